// Prints the results of the page's tests as TAP lines.

let count = 0;
let failures = 0;

export function assert(condition, message) {
    if (!condition) throw new Error(message);
}

export function assertEqual(actual, expected, what) {
    assert(actual === expected, `${what} is ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`);
}

export async function check(name, body) {
    count++;
    try {
        const reason = await body(); /* a text: why this cannot be checked here */
        console.log(`ok ${count} - ${name}${typeof reason === 'string' ? ` # SKIP ${reason}` : ''}`);
    } catch (error) {
        failures++;
        console.log(`not ok ${count} - ${name}`);
        console.log(`# ${error.message.split('\n')[0]}`);
    }
}

/** Prints the plan and ends the program. */
export function finish() {
    console.log(`1..${count}`);
    process.exit(failures === 0 ? 0 : 1);
}
