/**
 * A shell with a terminal, for typing into.
 * @module
 */

const waitMs = 50
const waitsMax = 2_000

export interface Typing {
  /** Types, and waits until the screen has shown the expected text since the last call. */
  readonly type: (text: string, expected: RegExp) => Promise<string>
  readonly stop: () => Promise<void>
}

export function startTyping(
  command: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Typing {
  let shown = ''
  const decoder = new TextDecoder()
  const child = Bun.spawn([...command], {
    cwd,
    env: { ...env, TERM: 'dumb', PS1: '> ' },
    terminal: {
      cols: 200,
      rows: 50,
      data: (_, bytes) => {
        shown += decoder.decode(bytes, { stream: true })
      },
    },
  })
  return {
    async type(text, expected) {
      shown = ''
      child.terminal?.write(text)
      for (let waits = 0; !expected.test(shown); waits += 1) {
        if (waits === waitsMax) throw new Error(`the screen shows: ${JSON.stringify(shown)}`)
        await Bun.sleep(waitMs)
      }
      return shown
    },
    async stop() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}
