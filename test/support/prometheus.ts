/**
 * A real Prometheus that scrapes one address, and its answers to queries.
 * @module
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from './folders.ts'
import { findPort } from './free-port.ts'

/** Debian's package has it; `scripts/install-packaging-tools` takes it from there. */
export const hasPrometheus = Bun.which('prometheus') !== null && Bun.which('promtool') !== null

export interface Prometheus {
  /** Series of an instant query: their labels, and the value as text. */
  query(expression: string): Promise<readonly Series[]>
  stop(): Promise<void>
}

interface Series {
  readonly metric: Readonly<Record<string, string>>
  readonly value: readonly [number, string]
}

const configOf = (targets: readonly string[], rules: string): string =>
  JSON.stringify({
    global: { scrape_interval: '500ms', scrape_timeout: '500ms', evaluation_interval: '500ms' },
    rule_files: [rules],
    scrape_configs: [{ job_name: 'coffer', static_configs: [{ targets }] }],
  })

async function ask(address: string, expression: string): Promise<readonly Series[]> {
  const body = new URLSearchParams({ query: expression })
  const answer = await fetch(`${address}/api/v1/query`, { method: 'POST', body })
  const { data, error } = (await answer.json()) as {
    readonly data?: { readonly result: readonly Series[] }
    readonly error?: string
  }
  if (data === undefined) throw new Error(`${expression}: ${error}`)
  return data.result
}

async function untilReady(address: string, ended: () => boolean): Promise<void> {
  for (;;) {
    if (ended()) throw new Error('Prometheus ended before it was ready')
    const ready = await fetch(`${address}/-/ready`).catch(() => undefined)
    if (ready?.status === 200) return
    await Bun.sleep(100)
  }
}

/**
 * @param targets hosts and ports of listeners that have `/metrics`
 * @param rules   a file of rules; if they are invalid, it does not start
 */
export async function startPrometheus(
  targets: readonly string[],
  rules: string,
): Promise<Prometheus> {
  const folder = temporaryFolder()
  // All JSON is YAML.
  const config = join(folder, 'prometheus.yml')
  writeFileSync(config, configOf(targets, rules))
  const listen = `127.0.0.1:${findPort()}`
  const address = `http://${listen}`
  const child = Bun.spawn(
    [
      'prometheus',
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${listen}`,
      '--log.level=error',
    ],
    { stdin: 'ignore', stdout: 'ignore', stderr: 'inherit' },
  )
  await untilReady(address, () => child.exitCode !== null)
  return {
    query: expression => ask(address, expression),
    async stop() {
      child.kill('SIGTERM')
      await child.exited
    },
  }
}
