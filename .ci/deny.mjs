// node .ci/deny.mjs: checks our dependencies against deny.toml. Advisories need a database from the network: if it cannot be
// reached, their check is skipped and the last line says so.
import { spawnSync } from 'node:child_process';

const deny = (...checks) => {
  const { status, stdout, stderr } = spawnSync('cargo', ['deny', '--locked', 'check', ...checks], { encoding: 'utf8', timeout: 120_000 });
  return { passed: status === 0, said: `${stdout ?? ''}${stderr ?? ''}`.trim() };
};

const counts = { passed: 0, failed: 0, skipped: 0 };
for (const checks of [['bans', 'licenses', 'sources'], ['advisories']]) {
  const { passed, said } = deny(...checks);
  const unreached = !passed && /failed to (fetch|load|open) advisory database|failed to clone/.test(said);
  if (unreached) console.log('advisories: SKIPPED, the advisory database cannot be reached');
  else console.log(`${checks.join(', ')}: ${passed ? 'ok' : `FAILED\n${said}`}`);
  counts[unreached ? 'skipped' : passed ? 'passed' : 'failed'] += 1;
}
console.log(`dependencies: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(counts.failed ? 1 : 0);
