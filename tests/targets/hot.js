// Compiled JavaScript: work() becomes hot, and is called through a few more frames. usage: node hot.js SECONDS
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
const end = Date.now() + 1000 * Number(process.argv[2] || 1);
let sum = 0;
while (Date.now() < end) sum += outer(20000);
console.log(sum);
