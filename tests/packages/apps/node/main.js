import { ask } from './ask.js';

console.log(await ask(process.argv[2]));
