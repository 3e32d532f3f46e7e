// Runs the command line in $LINE on a pseudo-terminal, types the answers in $TYPED (between bars), and prints what is shown.
import { spawn } from 'node:child_process';

const { LINE, TYPED, ...env } = process.env;
const child = spawn('script', ['-qefc', LINE, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
const answers = TYPED.split('|');
let shown = '';
let questions = 0;
child.stdout.on('data', (chunk) => {
  shown += chunk;
  process.stdout.write(chunk);
  // a question ends with a colon or possible answers, and a blank
  while ((shown.match(/: |N\] /g) ?? []).length > questions && questions < answers.length) {
    const answer = answers[questions++];
    setTimeout(() => child.stdin.write(answer), 50);
  }
});
setTimeout(() => child.kill('SIGKILL'), 30_000).unref();
child.on('close', (code) => process.exit(code ?? 1));
