/**
 * Sets of test files: those of `npm test`, and the further ones of `npm run test:all`.
 *
 * The quick tests find most in the least time. They leave out files that start the binary or a
 * database many times, wait for clocks, kill and flood, or repeat a quick test in another way.
 * @module
 */
import { existsSync } from 'node:fs'

/** Below `test`: folders with commands of their own, or that need tools installed by `.ci/run`. */
const separate = ['slow', 'package', 'browser', 'examples-abroad', 'audit-abroad', 'site']

/** Below `test`: files, and folders with everything in them. */
const thorough: readonly string[] = [
  'attacks/attacks.test.ts',
  'audit/find-entries.test.ts',
  'cli/answers-in-flight.test.ts',
  'cli/audit-copies.test.ts',
  'cli/backup-list.test.ts',
  'cli/backup.test.ts',
  'cli/bodies-in-flight.test.ts',
  'cli/bucket-backups.test.ts',
  'cli/bulk/endings.test.ts',
  'cli/bulk/import.test.ts',
  'cli/bulk/mistakes.test.ts',
  'cli/bulk/reindex-served.test.ts',
  'cli/bulk/reindex.test.ts',
  'cli/callers.test.ts',
  'cli/clock.test.ts',
  'cli/compact.test.ts',
  'cli/control-proof.test.ts',
  'cli/control.test.ts',
  'cli/copies.test.ts',
  'cli/database-passwords.test.ts',
  'cli/derivation-files.test.ts',
  'cli/endless-bucket.test.ts',
  'cli/erasures.test.ts',
  'cli/existing-folders.test.ts',
  'cli/faults.test.ts',
  'cli/folder-lock.test.ts',
  'cli/foreign-files.test.ts',
  'cli/handed-files.test.ts',
  'cli/hostile-machine.test.ts',
  'cli/key-sources.test.ts',
  'cli/keys.test.ts',
  'cli/listen-beside.test.ts',
  'cli/logged-erasures.test.ts',
  'cli/newest-rows.test.ts',
  'cli/process-memory.test.ts',
  'cli/progress.test.ts',
  'cli/rekey.test.ts',
  'cli/request-log.test.ts',
  'cli/rescue.test.ts',
  'cli/restarts-under-load.test.ts',
  'cli/restarts.test.ts',
  'cli/restored-keys.test.ts',
  'cli/restored-tokens.test.ts',
  'cli/root-commands.test.ts',
  'cli/scheduled-backups.test.ts',
  'cli/sealed-workers.test.ts',
  'cli/sealed.test.ts',
  'cli/setup.test.ts',
  'cli/stopped.test.ts',
  'cli/systemd.test.ts',
  'cli/tls-reload.test.ts',
  'cli/tls.test.ts',
  'cli/vectors.test.ts',
  'cli/verify.test.ts',
  'cli/worker-log.test.ts',
  'cli/worker-ops.test.ts',
  'cli/workers.test.ts',
  'crash',
  'docs/cli.test.ts',
  'docs/client.test.ts',
  'docs/operations.test.ts',
  'docs/runbooks.test.ts',
  'docs/start.test.ts',
  'docs/watching.test.ts',
  'examples/proxies.test.ts',
  'gate/hostile-load.test.ts',
  'gate/hostile-names.test.ts',
  'gate/leaks.test.ts',
  'gate/races.test.ts',
  'gate/untrusted-store.test.ts',
  'packaging/linux-packages.test.ts',
  'packaging/manifests.test.ts',
  'packaging/release.test.ts',
  'postgres/blindness.test.ts',
  'postgres/commands.test.ts',
  'postgres/damage.test.ts',
  'postgres/damaged-reads.test.ts',
  'postgres/doctor.test.ts',
  'postgres/first-hour.test.ts',
  'postgres/held-generation.test.ts',
  'postgres/move-back.test.ts',
  'postgres/put-back.test.ts',
  'postgres/refusals.test.ts',
  'postgres/sealed-workers.test.ts',
  'postgres/slow-writes.test.ts',
  'postgres/standby-replay.test.ts',
  'postgres/turns.test.ts',
  'postgres/watching.test.ts',
  'store/postgres/abandoned.test.ts',
  'store/postgres/fast-insert.test.ts',
  'store/postgres/clock.test.ts',
  'store/postgres/engine.test.ts',
  'store/postgres/held-back.test.ts',
  'store/postgres/move-out.test.ts',
  'store/postgres/lost-replies.test.ts',
  'store/postgres/missing.test.ts',
  'store/postgres/others.test.ts',
  'store/postgres/pgbouncer.test.ts',
  'store/postgres/plans.test.ts',
  'store/postgres/standby.test.ts',
  'store/postgres/together.test.ts',
  'store/tampering.test.ts',
  'tokens/merge-patch.test.ts',
  'tokens/naughty-strings.test.ts',
  'webhooks/killed.test.ts',
  'webhooks/operators.test.ts',
  'webhooks/stream-workers.test.ts',
  'webhooks/workers.test.ts',
]

/**
 * @returns patterns of the files that are left out
 * @throws Error with the names of missing files
 */
export function leftOut(isQuick: boolean): readonly string[] {
  const paths = [...separate, ...(isQuick ? thorough : [])]
  const gone = paths.filter(path => !existsSync(`test/${path}`))
  if (gone.length > 0) throw new Error(`scripts/test/sets.ts: not there: ${gone.join(', ')}`)
  return paths.map(path => `**/test/${path}${path.endsWith('.ts') ? '' : '/**'}`)
}
