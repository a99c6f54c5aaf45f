/**
 * Card fields in a frame that the vault serves, so that a card number never touches the page of a
 * shop (docs/elements.md).
 * @module
 */
import { Elysia } from 'elysia'
import type { Exchange } from '../http/answers.ts'
import { answerPage, type Pipeline, hooks } from '../http/pipeline.ts'
import { pathOf } from '../http/request.ts'
import type { MaybeLater } from '../lib/waiting.ts'
import style from './card.css' with { type: 'text' }
import { framingOrigins, headersFor, open, pageFor } from './page.ts'
import { frameScript } from './script.ts'

/** Links are relative: a mounted plugin does not know the path before its own. */
const folderOf = ({ url }: Request): string => (pathOf(url).endsWith('/') ? '..' : '.')

/**
 * Tells a page if it may hold the frame: otherwise it would only see a blank frame. Any page may
 * ask, about its own origin.
 */
const readable = { ...open, 'access-control-allow-origin': '*', vary: 'Origin' }

/** `GET /elements/card` and what it loads, all from this origin. */
export function elementRoutes(pipeline: Pipeline) {
  const origins = framingOrigins(pipeline.deps.settings.corsOrigins)
  const headers = headersFor(origins)
  const isAllowed = (origin: string | null): boolean =>
    origins.includes('*') || (origin !== null && origins.includes(origin))
  const page =
    (type: string, read: (request: Request) => MaybeLater<string>, more = {}) =>
    async ({ exchange }: { readonly exchange: Exchange }) => {
      const fields = { ...headers, 'content-type': `${type}; charset=utf-8`, ...more }
      const bytes = Buffer.from(await read(exchange.request))
      return answerPage(pipeline, exchange, { headers: fields, bytes })
    }
  const shown = () => ({ parse: 'none', page: true, detail: { hide: true } }) as const
  const originAllowed = ({ headers: sent }: Request): string =>
    JSON.stringify({ allowed: isAllowed(sent.get('origin')) })
  return new Elysia()
    .use(hooks(pipeline))
    .get(
      '/elements/card',
      page('text/html', request => pageFor(origins, folderOf(request)), open),
      shown(),
    )
    .get('/elements/card.js', page('text/javascript', frameScript), shown())
    .get(
      '/elements/card.css',
      page('text/css', () => style),
      shown(),
    )
    .get('/elements/origin', page('application/json', originAllowed, readable), shown())
}
