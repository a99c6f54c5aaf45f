/**
 * The `EventSource` of browsers reads the feed by the server of an application, which adds the key:
 * what comes, and where it goes on after a connection was cut.
 * @module
 */
import { beforeAll, expect, test } from 'bun:test'
import { atEnd } from '../support/at-end.ts'
import { until } from '../support/until.ts'
import { browserNames, openPage } from './support/browsers.ts'
import { openVault, type DevVault } from './support/vaults.ts'

let vault: DevVault
beforeAll(async () => {
  vault = await openVault()
})

const page = `<!doctype html><script>
  window.heard = []
  const source = new EventSource('/events')
  source.addEventListener('token.created', ({ lastEventId, data }) => {
    heard.push({ lastEventId, id: JSON.parse(data).data.token.id })
  })
</script>`

interface Shop {
  readonly address: string
  /** Ids that browsers sent; `null` where they sent none. */
  readonly asked: (string | null)[]
  /** Cuts what is open. */
  readonly cut: () => void
}

/** Copies a stream until it is cut. */
function cuttable(body: ReadableStream<Uint8Array>, cuts: Set<() => void>): ReadableStream {
  const reader = body.getReader()
  let isCut = false
  return new ReadableStream({
    start(controller) {
      cuts.add(() => {
        isCut = true
        controller.close()
        void reader.cancel()
      })
    },
    async pull(controller) {
      const { value } = await reader.read()
      if (!isCut && value !== undefined) controller.enqueue(value)
    },
  })
}

function startShop(): Shop {
  const asked: (string | null)[] = []
  const cuts = new Set<() => void>()
  async function relay({ headers }: Request): Promise<Response> {
    const last = headers.get('last-event-id')
    asked.push(last)
    const {
      body,
      status,
      headers: answered,
    } = await fetch(`${vault.address}/events?types=token.created`, {
      headers: {
        accept: headers.get('accept') ?? '',
        'svc-api-key': vault.managementKey,
        ...(last === null ? {} : { 'last-event-id': last }),
      },
    })
    return new Response(body && cuttable(body, cuts), { status, headers: answered })
  }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: request =>
      new URL(request.url).pathname === '/events'
        ? relay(request)
        : new Response(page, { headers: { 'content-type': 'text/html' } }),
  })
  atEnd(() => server.stop(true))
  return {
    address: `http://127.0.0.1:${server.port}/`,
    asked,
    cut() {
      for (const cut of cuts) cut()
      cuts.clear()
    },
  }
}

type Heard = readonly { readonly lastEventId: string; readonly id: string }[]

// proves C18.14
test.each(browserNames)(
  '%s hears events, and goes on behind the last when it was cut off',
  async name => {
    const shop = startShop()
    const opened = await openPage(name)
    const heard = (): Promise<Heard> => opened.evaluate('window.heard') as Promise<Heard>
    const hears = (id: string): Promise<void> =>
      until(async () => (await heard()).some(each => each.id === id))
    const make = (id: string): Promise<unknown> =>
      vault.backend.tokens.create({ id, type: 'token', data: 1 })
    await opened.goto(shop.address)
    await make(`${name}-1`)
    await hears(`${name}-1`)
    const last = (await heard()).at(-1)?.lastEventId ?? ''
    shop.cut()
    await make(`${name}-2`)
    await hears(`${name}-2`)
    expect(Number(shop.asked.at(-1))).toBeGreaterThanOrEqual(Number(last))
    const ids = (await heard()).map(({ id }) => id)
    expect(ids.filter(id => id.startsWith(name))).toEqual([`${name}-1`, `${name}-2`])
    await opened.close()
  },
)
