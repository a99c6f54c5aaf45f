/**
 * Colours of a page as the screen shows it, not as styles say.
 * @module
 */
import { inflateSync } from 'node:zlib'
import type { Page } from 'puppeteer-core'

/** The parts of a PNG image after its signature, by RFC 2083 section 3.2. */
function* chunksOf(png: Buffer): Generator<readonly [type: string, data: Buffer]> {
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at)
    yield [png.toString('latin1', at + 4, at + 8), png.subarray(at + 8, at + 8 + length)]
    at += length + 12
  }
}

/** @returns red, green and blue at a place of the window */
export async function pixelAt(page: Page, x: number, y: number): Promise<readonly number[]> {
  const clip = { x, y, width: 1, height: 1 }
  // A window that is made larger for a picture has not drawn its frames yet.
  const image = await page.screenshot({ clip, captureBeyondViewport: false })
  const data = [...chunksOf(Buffer.from(image))].filter(([type]) => type === 'IDAT')
  // One line of one pixel, behind its filter byte; filters do not change a first pixel.
  return [...inflateSync(Buffer.concat(data.map(([, part]) => part)))].slice(1, 4)
}
