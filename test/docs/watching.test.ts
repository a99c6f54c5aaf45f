/**
 * `docs/grafana-dashboard.json` and `docs/prometheus-rules.yml`: a real Prometheus scrapes a vault
 * under a little load, one of three workers with TLS, and one over PostgreSQL, and has something to
 * draw in each panel and no alert. Their metrics are those that `docs/operations.md` names.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { selfSigned } from '../support/certificates.ts'
import { runCoffer, startCoffer, type Running } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { isPostgresThere, nextSchema, sharedPostgres } from '../support/postgres.ts'
import { hasPrometheus, startPrometheus, type Prometheus } from '../support/prometheus.ts'
import { namesIn, scraperOf } from '../support/scrape.ts'

const docs = resolve(import.meta.dir, '../../docs')
const rules = `${docs}/prometheus-rules.yml`
const ruleTests = resolve(import.meta.dir, '../fixtures/prometheus-rules.test.yml')

interface Panel {
  readonly title: string
  readonly type: string
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
  readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>
}

const { panels } = JSON.parse(readFileSync(`${docs}/grafana-dashboard.json`, 'utf8')) as {
  readonly panels: readonly Panel[]
}
const drawn = panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({ title, expr, legendFormat })),
)

/** Fills in Grafana's variables. */
const asked = (expression: string): string =>
  expression
    .replaceAll('$__rate_interval', '5s')
    .replaceAll('$job', 'coffer')
    .replaceAll('$instance', '.+')

const alertNames = [...readFileSync(rules, 'utf8').matchAll(/^ *- alert: (\w+)$/gm)].map(
  ([, name = '']) => name,
)

describe('the dashboard', () => {
  test('has a query in each panel, for the instances that are chosen', () => {
    const empty = panels.filter(({ type, targets = [] }) => type !== 'row' && targets.length === 0)
    expect(empty).toEqual([])
    for (const { title, expr } of drawn) {
      const selectors = expr.match(/\{[^}]*\}/g) ?? []
      expect([title, selectors.length > 0]).toEqual([title, true])
      for (const selector of selectors) {
        expect([title, selector]).toEqual([
          title,
          expect.stringMatching(/^\{job="\$job",instance=~"\$instance"/),
        ])
      }
    }
  })

  test('draws no panel over another', () => {
    const cells = panels.flatMap(({ title, gridPos: { x, y, w, h } }) => {
      expect([title, x + w <= 24]).toEqual([title, true])
      return Array.from({ length: w * h }, (_, n) => `${x + (n % w)} ${y + Math.floor(n / w)}`)
    })
    expect(new Set(cells).size).toBe(cells.length)
  })
})

describe.skipIf(!hasPrometheus)('the alert rules', () => {
  const promtool = (...words: string[]) => {
    const { exitCode, stdout, stderr } = Bun.spawnSync(['promtool', ...words])
    return { exitCode, text: `${stdout}${stderr}` }
  }

  test('are taken by promtool', () => {
    const { exitCode, text } = promtool('check', 'rules', '--lint=all', '--lint-fatal', rules)
    expect([exitCode, text]).toEqual([0, expect.stringContaining(`${alertNames.length} rules`)])
  })

  test('fire when they should, and not before', () => {
    expect(promtool('test', 'rules', ruleTests)).toEqual({
      exitCode: 0,
      text: expect.stringContaining('SUCCESS'),
    })
  })

  test.each(alertNames)('%s is tried by promtool', name => {
    const tried = readFileSync(ruleTests, 'utf8')
    expect(tried.match(new RegExp(`alertname: ${name}\\b`, 'g'))?.length).toBeGreaterThanOrEqual(2)
  })
})

/** Keeps on until it is told to stop: tokens made, read and refused, and guesses at keys. */
function startLoad(vault: string, management: string) {
  const ask = async (method: string, path: string, key: string, body?: unknown) => {
    const headers = { 'SVC-API-KEY': key, 'content-type': 'application/json' }
    const init = body === undefined ? {} : { body: JSON.stringify(body) }
    return (await fetch(vault + path, { method, headers, ...init })).json()
  }
  const permissions = ['token:create', 'token:read']
  const rule = [{ priority: 1, container: '/', transform: 'reveal', permissions }]
  const application = { name: 'load', type: 'private', permissions, rules: rule }
  let isStopped = false
  const done = (async () => {
    const made = await ask('POST', '/applications', management, application)
    const { key } = made as { readonly key: string }
    for (let n = 0; !isStopped; n += 1) {
      await ask('POST', '/tokens', key, { id: `order-${n}`, type: 'token', data: `row ${n}` })
      await ask('GET', `/tokens/order-${n}`, key)
      await ask('GET', '/tokens/nothing', key)
      await ask('GET', '/tokens', 'key_wrong')
      await Bun.sleep(20)
    }
  })()
  return {
    async stop() {
      isStopped = true
      await done
    },
  }
}

/** A served vault, and the address of its metrics. */
interface Served {
  readonly running: Running
  readonly vault: string
  readonly ops: string
}

let served: readonly Served[]
let load: ReturnType<typeof startLoad>

async function serve(data: string, ...more: readonly string[]): Promise<Served> {
  const words = ['serve', '--data', data, '--port', '0', '--ops-port', '0', ...more]
  const running = await startCoffer(words)
  const [ops = '', vault = ''] = running.ready.match(/https?:\/\/127\.0\.0\.1:\d+/g) ?? []
  return { running, vault, ops }
}

/** @returns the first management key */
async function make(data: string, ...more: readonly string[]): Promise<string> {
  const { stdout } = await runCoffer(['init', '--data', data, '--json', ...more])
  return (JSON.parse(stdout) as { readonly key: string }).key
}

/** Returns a folder in which a vault keeps its own backups. */
function placeBeside(data: string): string {
  const place = `${data}-backups`
  mkdirSync(place)
  return place
}

async function serveWorkers(root: string): Promise<Served> {
  const data = `${root}/workers`
  await make(data)
  const { cert, key } = selfSigned(root, 'workers', '-days', '90')
  const tls = ['--tls-cert', cert, '--tls-key', key]
  return serve(data, '--workers', '3', '--backup-to', placeBeside(data), ...tls)
}

/** .ci/run installs PostgreSQL. */
async function serveOther(root: string): Promise<Served[]> {
  if (!isPostgresThere) return []
  const data = `${root}/other`
  await make(data, '--store', (await sharedPostgres()).url(nextSchema()))
  return [await serve(data, '--workers', '3')]
}

beforeAll(async () => {
  const root = temporaryFolder()
  const data = `${root}/vault`
  const key = await make(data)
  const one = await serve(data, '--backup-to', placeBeside(data))
  served = [one, await serveWorkers(root), ...(await serveOther(root))]
  load = startLoad(one.vault, key)
}, 300_000)

afterAll(async () => {
  await load.stop()
  for (const { running } of served) expect(await running.end('SIGTERM')).toBe(0)
})

describe('the scrape of a vault', () => {
  const page = readFileSync(`${docs}/operations.md`, 'utf8')
  const section = page.slice(page.indexOf('\n## Watching'), page.indexOf('\n## Logs'))
  const named = [...section.matchAll(/`((?:coffer|process)_[a-z_]+)(?:\{[a-z,]+\})?`/g)].map(
    ([, name = '']) => name,
  )
  const used = [...drawn.map(({ expr }) => expr), readFileSync(rules, 'utf8')]
    .flatMap(text => text.match(/\b(?:coffer|process)_\w+(?=\{)/g) ?? [])
    .map(name => name.replace(/(?<=duration_seconds)_(?:bucket|sum|count)$/, ''))
  const isOfDatabase = (name: string): boolean => name.startsWith('coffer_database_')
  // Told by vaults that have a bucket or witnesses: see `test/cli/audit-copies.test.ts` and
  // `test/cli/audit-witness.test.ts`.
  const isOfOthers = (name: string): boolean => /^coffer_audit_(?:copies|witness)_total$/.test(name)
  const isToldHere = (name: string): boolean =>
    (isPostgresThere || !isOfDatabase(name)) && !isOfOthers(name)

  /**
   * Returns the metric names of all vaults, after each has made a backup and answered something.
   */
  async function toldNames(): Promise<ReadonlySet<string>> {
    for (;;) {
      const texts = await Promise.all(served.map(({ ops }) => scraperOf(ops).metrics()))
      const names = new Set(texts.flatMap(namesIn))
      const isWhole = names.has('coffer_backup_age_seconds') && names.has('coffer_refusals_total')
      if (isWhole) return names
      await Bun.sleep(100)
    }
  }

  test('is what docs/operations.md names, and no more', async () => {
    const told = [...(await toldNames())].toSorted()
    expect([...new Set(named.filter(isToldHere))].toSorted()).toEqual(told)
  }, 300_000)

  test('has each metric of the dashboard and of the alert rules', async () => {
    const told = await toldNames()
    expect(used.length).toBeGreaterThan(drawn.length)
    expect(used.filter(isToldHere).filter(name => !told.has(name))).toEqual([])
  })

  test.skipIf(!hasPrometheus)(
    'is taken by promtool, by its rules for names and units',
    async () => {
      for (const { ops } of served) {
        const text = await scraperOf(ops).metrics()
        const { exitCode, stdout, stderr } = Bun.spawnSync(['promtool', 'check', 'metrics'], {
          stdin: Buffer.from(text),
        })
        expect([exitCode, `${stdout}${stderr}`]).toEqual([0, ''])
      }
    },
  )
})

describe.skipIf(!hasPrometheus)('a vault that Prometheus scrapes', () => {
  let prometheus: Prometheus

  beforeAll(async () => {
    prometheus = await startPrometheus(
      served.map(({ ops }) => new URL(ops).host),
      rules,
    )
  }, 300_000)

  afterAll(() => prometheus.stop())

  /** Returns drawable values; asks again before the second scrape, while there are none. */
  async function valuesOf(expression: string): Promise<readonly number[]> {
    for (let tries = 0; ; tries += 1) {
      const series = await prometheus.query(expression)
      const values = series.map(({ value: [, text] }) => Number(text))
      const finite = values.filter(Number.isFinite)
      if (finite.length > 0 || tries === 1_000) return finite
      await Bun.sleep(200)
    }
  }

  const isDrawable = ({ expr }: { readonly expr: string }): boolean =>
    isPostgresThere || !expr.includes('coffer_database_')

  test.each(drawn.filter(isDrawable))(
    'gives "$title" something to draw: $legendFormat',
    async ({ expr }) => {
      expect((await valuesOf(asked(expr))).length).toBeGreaterThan(0)
    },
  )

  test('is named by label in each line of a panel', async () => {
    for (const { title, expr, legendFormat } of drawn.filter(isDrawable)) {
      const label = /^\{\{(\w+)\}\}$/.exec(legendFormat)?.[1]
      if (label === undefined) continue
      // Tests come in any order: this one may be the first, before anything was scraped.
      await valuesOf(asked(expr))
      const series = await prometheus.query(asked(expr))
      const names = series.map(({ metric }) => metric[label])
      expect([title, names.length > 0, names.includes(undefined)]).toEqual([title, true, false])
    }
  })

  test('fills the choices of the dashboard', async () => {
    expect(await valuesOf('coffer_info{job="coffer"}')).toContain(1)
  })

  test('alerts nobody while all is well', async () => {
    // Each scrape is followed by a look at the rules within half a second.
    const vaults = served.length
    const seen = `count(count_over_time(up[5s]) > 3) == ${vaults}`
    expect(await valuesOf(seen)).toEqual([vaults])
    // The disk is that of the user who runs the tests.
    const alerts = await prometheus.query('ALERTS{alertstate="firing",alertname!~"CofferDisk.*"}')
    expect(alerts.map(({ metric }) => metric['alertname'])).toEqual([])
  })
})
