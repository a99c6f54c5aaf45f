/**
 * Card fields in a frame that the vault serves, so that a card number never touches the page of a
 * shop (docs/elements.md).
 * @module
 */
import { Elysia } from 'elysia'
import type { Pipeline } from '../http/pipeline.ts'
import { pathOf } from '../http/request.ts'
import { hidden, page } from '../http/routes.ts'
import { schemeVariables } from '../lib/look.ts'
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
  const part = (type: string, read: (request: Request) => MaybeLater<string>, more = {}) =>
    page(pipeline, async request => {
      const fields = { ...headers, 'content-type': `${type}; charset=utf-8`, ...more }
      return { headers: fields, bytes: Buffer.from(await read(request)) }
    })
  const originAllowed = ({ headers: sent }: Request): string =>
    JSON.stringify({ allowed: isAllowed(sent.get('origin')) })
  return new Elysia()
    .get(
      '/elements/card',
      part('text/html', request => pageFor(origins, folderOf(request)), open),
      hidden(),
    )
    .get('/elements/card.js', part('text/javascript', frameScript), hidden())
    .get(
      '/elements/card.css',
      part('text/css', () => schemeVariables + style),
      hidden(),
    )
    .get('/elements/origin', part('application/json', originAllowed, readable), hidden())
}
