/**
 * The console: a page for people, which uses the interface alone, by a key that they type
 * (docs/console.md).
 * @module
 */
import { Elysia } from 'elysia'
import type { Pipeline } from '../http/pipeline.ts'
import { pathOf } from '../http/request.ts'
import { hidden, page } from '../http/routes.ts'
import { icon, lookVariables } from '../lib/look.ts'
import type { MaybeLater } from '../lib/waiting.ts'
import style from './console.css' with { type: 'text' }
import { consoleHeaders, consolePage } from './page.ts'
import { consoleScript } from './script.ts'

/** Links are relative: a mounted plugin does not know the path before its own. */
const folderOf = ({ url }: Request): string => (pathOf(url).endsWith('/') ? '.' : 'console')

/** `GET /console` and what it loads, all from this origin. */
export function consoleRoutes(pipeline: Pipeline) {
  const part = (type: string, read: (request: Request) => MaybeLater<string>) =>
    page(pipeline, async request => ({
      headers: consoleHeaders(type),
      bytes: Buffer.from(await read(request)),
    }))
  return new Elysia()
    .get(
      '/console',
      part('text/html', request => consolePage(folderOf(request))),
      hidden(),
    )
    .get('/console/app.js', part('text/javascript', consoleScript), hidden())
    .get(
      '/console/app.css',
      part('text/css', () => lookVariables + style),
      hidden(),
    )
    .get(
      '/console/icon.svg',
      part('image/svg+xml', () => icon),
      hidden(),
    )
}
