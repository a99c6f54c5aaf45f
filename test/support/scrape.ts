/**
 * Reads the listener for health and metrics of a running vault.
 * @module
 */

export interface Scraper {
  /** Returns the text of an answer with its status. */
  readonly ask: (path: string) => Promise<[status: number, text: string]>
  readonly metrics: () => Promise<string>
}

/** @param address of the listener, such as `http://127.0.0.1:9333` */
export function scraperOf(address: string): Scraper {
  const ask = async (path: string): Promise<[number, string]> => {
    const answer = await fetch(address + path)
    return [answer.status, await answer.text()]
  }
  return { ask, metrics: async () => (await ask('/metrics'))[1] }
}

/** Returns the value of a line of the text format; `undefined` if it is missing. */
export function valueOf(text: string, line: string): number | undefined {
  const found = text.split('\n').find(one => one.startsWith(`${line} `))
  return found === undefined ? undefined : Number(found.slice(line.length + 1))
}

/** Returns the sum of all lines of a metric, with any labels. */
export const sumOf = (text: string, name: string): number =>
  text
    .split('\n')
    .filter(line => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)

/** Names of all metrics that have a line; a histogram's lines count under its own name. */
export const namesIn = (text: string): string[] =>
  [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name)
