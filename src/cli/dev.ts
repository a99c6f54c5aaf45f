/**
 * `coffer dev`: a throw-away vault to try things on, gone when it ends.
 *
 * Its master key is never written, so nobody can open the remains of a killed process; the next one
 * removes them. It ends with the program that started it. Unlike other vaults it says why a token
 * was hidden or masked.
 * @module
 */
import type { Command } from 'commander'
import { clockStartHoldMs } from '../limits/operation-limits.ts'
import { makeClock, noMark } from '../server/process/clock.ts'
import { tellFailuresBy } from '../server/process/failure-line.ts'
import { outliveOtherSignals } from '../server/process/hang-up.ts'
import { makeDemoVault, type DemoVault } from '../server/process/demo-vault.ts'
import { startLogging } from '../server/watch/logging.ts'
import { startServer, untilSignalled } from '../server/process/server.ts'
import { elapsedMs, say, wallMs } from '../server/process/system.ts'
import {
  makeThrowAway,
  outlivesParent,
  parentEnd,
  sweepThrownAway,
} from '../server/folder/throw-away.ts'
import { endingSignals } from '../server/process/vault-process.ts'
import { makeThrowAwayReports } from '../server/watch/throw-away-reports.ts'
import type { AnswerEvent } from '../deps.ts'
import { makeRequestLines } from './request-lines.ts'
import { shownChoices } from './setting-lines.ts'
import { loadConfig, takesTrying, type ConfigOptions } from './setting-options.ts'

interface DevOptions extends ConfigOptions {
  readonly json?: boolean
}

function printJson(baseUrl: string, demo: DemoVault): void {
  const facts = {
    base_url: baseUrl,
    tenant_id: demo.tenantId,
    management_key: demo.management.reveal(),
    private_key: demo.private.reveal(),
    public_key: demo.public.reveal(),
  }
  say(JSON.stringify(facts))
}

function printGuide(baseUrl: string, demo: DemoVault): void {
  const guide = `A throw-away vault on ${baseUrl}; Ctrl-C ends it and nothing stays.

  tenant          ${demo.tenantId}
  management key  ${demo.management.reveal()}
  private key     ${demo.private.reveal()}   (may read in the clear)
  public key      ${demo.public.reveal()}   (may only create and update)

Store a card with the public key, then read it with the private one:

  curl -s ${baseUrl}/tokens -H 'SVC-API-KEY: ${demo.public.reveal()}' \\
    -H 'Content-Type: application/json' \\
    -d '{"id": "my-card", "type": "card", "data": {"number": "4242424242424242"}}'; echo
  curl -s ${baseUrl}/tokens/my-card -H 'SVC-API-KEY: ${demo.private.reveal()}'; echo

Look around in the console with these keys: ${baseUrl}/console
The interface is documented at ${baseUrl}/swagger. Each request has a line here:
`
  say(...guide.split('\n'))
}

/** Checked first: a process that listens for a signal no longer ignores it. */
const untilToEnd = (): Promise<unknown> =>
  outlivesParent()
    ? untilSignalled(endingSignals)
    : Promise.race([untilSignalled([...endingSignals, 'SIGHUP']), parentEnd()])

/** Listens on loopback alone: its keys are printed. */
async function dev({ json, ...options }: DevOptions, command: Command): Promise<void> {
  outliveOtherSignals()
  const { address, logs, settings } = loadConfig(options)
  tellFailuresBy(logs)
  const isJson = json === true || logs.logFormat === 'json'
  const logging = startLogging(logs)
  const { log } = logging
  const port = 'port' in address ? address.port : 0
  sweepThrownAway()
  const folder = makeThrowAway()
  try {
    const clock = makeClock({
      wall: wallMs,
      elapsedMs,
      mark: noMark,
      startHoldMs: clockStartHoldMs,
      log,
    })
    const lines = isJson ? undefined : makeRequestLines(say)
    const told = makeThrowAwayReports(folder.path, shownChoices(options, command))
    const observe = (seen: AnswerEvent): void => {
      told.observe(seen)
      logging.observe?.(seen)
    }
    const { reportsOf } = told
    const parts = { settings, clock, elapsedMs, log, observe, reportsOf, explain: lines?.explain }
    const demo = await makeDemoVault(folder.path, parts)
    const stopped = untilToEnd()
    const { deps, auditUpkeep } = demo
    const server = await startServer(deps, { host: '127.0.0.1', port }, {}, { auditUpkeep })
    const baseUrl = server.address + settings.basePath
    if (isJson) printJson(baseUrl, demo)
    else printGuide(baseUrl, demo)
    await stopped
    await server.stop()
    await lines?.end()
    await logging.end()
  } finally {
    folder.remove()
  }
}

export function addDev(program: Command): void {
  takesTrying(program.command('dev'))
    .description('start a throw-away vault with three keys')
    .option('--json', 'print one line of JSON when it is ready')
    .action((options: DevOptions, command: Command) => dev(options, command))
}
