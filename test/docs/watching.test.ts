/**
 * `docs/grafana-dashboard.json` and `docs/prometheus-rules.yml`: a real Prometheus scrapes a vault
 * under a little load, and one over PostgreSQL, and has something to draw in each panel and nothing
 * to be told of.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { runCoffer, startCoffer, type Running } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { isPostgresThere, nextSchema, sharedPostgres } from '../support/postgres.ts'
import { hasPrometheus, startPrometheus, type Prometheus } from '../support/prometheus.ts'

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

/** What Grafana puts in the place of its variables. */
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

  test('asks for no metric that docs/operations.md does not name', () => {
    const page = readFileSync(`${docs}/operations.md`, 'utf8')
    const texts = [...drawn.map(({ expr }) => expr), readFileSync(rules, 'utf8')]
    const names = texts.flatMap(text => text.match(/\b(?:coffer|process)_\w+(?=\{)/g) ?? [])
    expect(names.length).toBeGreaterThan(drawn.length)
    for (const name of new Set(names)) {
      const base = name.replace(/(?<=duration_seconds)_(?:bucket|sum|count)$/, '')
      expect([name, page.includes(base)]).toEqual([name, true])
    }
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

describe.skipIf(!hasPrometheus)('a vault that Prometheus scrapes', () => {
  let server: Running
  let other: Running | undefined
  let prometheus: Prometheus
  let load: ReturnType<typeof startLoad>

  /** @returns host and port of its listener, and the vault */
  async function serve(data: string): Promise<[string, string, Running]> {
    const running = await startCoffer(['serve', '--data', data, '--port', '0', '--ops-port', '0'])
    const [ops = '', vault = ''] = running.ready.match(/http:\/\/127\.0\.0\.1:\d+/g) ?? []
    return [new URL(ops).host, vault, running]
  }

  /** .ci/run installs PostgreSQL. */
  async function serveOther(): Promise<string[]> {
    if (!isPostgresThere) return []
    const data = `${temporaryFolder()}/other`
    const url = (await sharedPostgres()).url(nextSchema())
    expect((await runCoffer(['init', '--data', data, '--store', url])).exitCode).toBe(0)
    const [ops, , running] = await serve(data)
    other = running
    return [ops]
  }

  beforeAll(async () => {
    const data = `${temporaryFolder()}/vault`
    const { stdout } = await runCoffer(['init', '--data', data, '--json'])
    const { key } = JSON.parse(stdout) as { readonly key: string }
    const [ops, vault, running] = await serve(data)
    server = running
    prometheus = await startPrometheus([ops, ...(await serveOther())], rules)
    load = startLoad(vault, key)
  }, 300_000)

  afterAll(async () => {
    await load.stop()
    await prometheus.stop()
    expect(await server.end('SIGTERM')).toBe(0)
    if (other !== undefined) expect(await other.end('SIGTERM')).toBe(0)
  })

  /** Values that can be drawn; asks again while there are none, as before the second scrape. */
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
    const vaults = isPostgresThere ? 2 : 1
    const seen = `count(count_over_time(up[5s]) > 3) == ${vaults}`
    expect(await valuesOf(seen)).toEqual([vaults])
    // The disk is that of whoever runs the tests.
    const alerts = await prometheus.query('ALERTS{alertname!~"CofferDisk.*"}')
    expect(alerts.map(({ metric }) => metric['alertname'])).toEqual([])
  })
})
