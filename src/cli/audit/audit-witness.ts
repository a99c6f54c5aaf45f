/**
 * `coffer audit witness`: cosigns checkpoints of the audit logs of other vaults.
 * @module
 */
import { InvalidArgumentError, type Command } from 'commander'
import { parseVerifierKey, printVerifierKey, type NoteKey } from '../../audit/note-keys.ts'
import { portMax } from '../../limits/limits.ts'
import { readTls } from '../../server/listen/tls-files.ts'
import { usage } from '../../server/process/failure.ts'
import { outliveOtherSignals } from '../../server/process/hang-up.ts'
import { untilSignalled } from '../../server/process/server.ts'
import { say, sayJson, wallMs } from '../../server/process/system.ts'
import { endingSignals } from '../../server/process/vault-process.ts'
import { openWitnessFolder } from '../../server/witness/witness-folder.ts'
import { makeToldLines } from '../../server/witness/told-lines.ts'
import { startWitness } from '../../server/witness/witness-server.ts'

interface WitnessOptions {
  readonly folder: string
  readonly name: string
  readonly log: readonly NoteKey[]
  readonly host: string
  readonly port: number
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly json?: boolean
}

function readLog(text: string, before: readonly NoteKey[] = []): readonly NoteKey[] {
  const key = parseVerifierKey(text)
  if (typeof key === 'string') throw new InvalidArgumentError(key)
  if (key.kind === 'log') return [...before, key]
  throw new InvalidArgumentError('expected the key of a log, from coffer audit key --for-witnesses')
}

function readPort(text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port <= portMax) return port
  throw new InvalidArgumentError(`expected a number from 0 to ${portMax}`)
}

async function witness(options: WitnessOptions): Promise<void> {
  const { tlsCert: cert, tlsKey: key, log: logs, host, port } = options
  outliveOtherSignals()
  if ((cert === undefined) !== (key === undefined)) {
    throw usage('expected --tls-cert and --tls-key together')
  }
  const tls = cert === undefined || key === undefined ? undefined : readTls({ cert, key })
  const folder = openWitnessFolder(options.folder, options.name)
  const stopped = untilSignalled(endingSignals)
  const told = makeToldLines(line => say(`${new Date(wallMs()).toISOString()} ${line}`))
  const server = await startWitness({ folder, logs, wallMs, tell: told.tell }, { host, port }, tls)
  const vkey = printVerifierKey(folder.signer.key)
  if (options.json === true) sayJson({ address: server.address, key: vkey })
  else say(`A witness at ${server.address}, whose key is`, vkey)
  await stopped
  await server.stop()
  told.end()
}

export function addAuditWitness(audit: Command): void {
  audit
    .command('witness')
    .description('cosign the audit logs of other vaults, so that none of them loses its end unseen')
    .requiredOption('--folder <folder>', 'where its key and what it has cosigned are kept')
    .requiredOption('--name <name>', 'its name, such as its host name')
    .requiredOption('--log <vkey>', 'the key of a log, for each log', readLog)
    .option('--host <host>', 'the address to listen on', '127.0.0.1')
    .option('--port <port>', 'the port to listen on, 0 for any free one', readPort, 3_335)
    .option('--tls-cert <file>', 'a file with the TLS certificate and those above it (PEM)')
    .option('--tls-key <file>', 'a file with the key of that certificate (PEM)')
    .option('--json', 'print one line of JSON when it is ready')
    .action((options: WitnessOptions) => witness(options))
}
