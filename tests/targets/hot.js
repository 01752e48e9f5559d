// Compiled JavaScript: work() becomes hot, and is called through a few more frames. Takes so many seconds of CPU time, and
// goes on until FILE is there, if one is named. usage: node hot.js SECONDS [FILE]
const { existsSync } = require('node:fs');

function work(n) {
    let x = 1;
    for (let i = 0; i < n; i++) x = (x * 31 + i) % 1000003;
    return x;
}
function middle(n) {
    return work(n) + 1;
}
function outer(n) {
    return middle(n) + middle(n + 1);
}
const [seconds, file] = process.argv.slice(2);
const usedSeconds = () => process.cpuUsage().user / 1e6;
const end = usedSeconds() + Number(seconds || 1);
let sum = 0;
do {
    for (let i = 0; i < 100; i++) sum += outer(20000);
} while (usedSeconds() < end || (file && !existsSync(file)));
console.log(sum);
