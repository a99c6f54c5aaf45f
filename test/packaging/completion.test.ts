/**
 * `coffer completion`: scripts that real shells complete by.
 * @module
 */
import { afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { startTyping, type Typing } from '../support/typing.ts'

let folder: string
const scriptOf = (shell: string): string => join(folder, `coffer.${shell}`)

beforeAll(async () => {
  folder = temporaryFolder()
  writeFileSync(join(folder, 'monday.backup'), '')
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { exitCode, stdout, stderr } = await runCoffer(['completion', shell])
    expect([shell, exitCode, stderr]).toEqual([shell, 0, ''])
    writeFileSync(scriptOf(shell), stdout)
  }
})

test.each(['tcsh', 'constructor', 'secret-4111'])(
  'coffer completion %s is refused, and the name is not repeated',
  async shell => {
    const { exitCode, stdout, stderr } = await runCoffer(['completion', shell])
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toBe('coffer: completion: expected one of bash, zsh, fish; see --help\n')
  },
)

const interactive: Readonly<Record<string, readonly string[]>> = {
  bash: ['bash', '--norc', '--noprofile', '-i'],
  // Its own files would ask a newcomer questions.
  zsh: ['zsh', '-f', '-i'],
}

describe.each(Object.keys(interactive))('%s', shell => {
  const isThere = Bun.which(shell) !== null
  const typings: Typing[] = []

  afterEach(async () => {
    for (const typing of typings.splice(0)) await typing.stop()
  })

  async function start(): Promise<Typing> {
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder, ZDOTDIR: folder }
    const typing = startTyping(interactive[shell] ?? [], folder, env)
    typings.push(typing)
    await typing.type(`source ${scriptOf(shell)}; echo rea''dy\r`, /ready/)
    return typing
  }

  test.skipIf(!isThere).each([
    ['coffer ver', '\t\t', /verify[^]*version/],
    ['coffer comp', '\t\t', /compact[^]*completion/],
    ['coffer syst', '\t', /coffer systemd /],
    ['coffer systemd pr', '\t', /systemd print /],
    ['coffer app create --te', '\t', /--tenant /],
    ['coffer serve --mask-', '\t', /--mask-guard /],
    ['coffer restore mon', '\t', /monday\.backup /],
    ['coffer restore --verify', '\t', /--verify-only /],
    ['coffer backup --to mon', '\t', /monday\.backup /],
    ['coffer init --data mon', '\t', /monday\.backup /],
  ])('completes %s', async (typed, tab, shows) => {
    const typing = await start()
    await typing.type(typed + tab, shows)
  })

  test.skipIf(!isThere)('runs nothing of what stands on the line', async () => {
    const typing = await start()
    const made = join(folder, `${shell}-has-run`)
    await typing.type(`coffer backup --to "$(touch ${made})" --js\t`, /--json /)
    expect(existsSync(made)).toBe(false)
  })

  test.skipIf(!isThere)('takes its script twice without a word', () => {
    const words = [...(interactive[shell] ?? []).slice(0, -1), '-c']
    const script = `source ${scriptOf(shell)} && source ${scriptOf(shell)}`
    const { exitCode, stdout, stderr } = Bun.spawnSync([...words, script], {
      env: { PATH: process.env['PATH'], HOME: folder, ZDOTDIR: folder },
    })
    expect([exitCode, stdout.toString(), stderr.toString()]).toEqual([0, '', ''])
  })
})

describe.skipIf(Bun.which('fish') === null)('fish', () => {
  /** Returns the completions of a line, without their descriptions. */
  function offers(line: string): string[] {
    const script = `source ${scriptOf('fish')}; complete -C '${line}'`
    const { stdout, stderr } = Bun.spawnSync(['fish', '--no-config', '-c', script], {
      cwd: folder,
      env: { PATH: process.env['PATH'], HOME: folder },
    })
    expect(stderr.toString()).toBe('')
    return stdout
      .toString()
      .trim()
      .split('\n')
      .map(one => one.split('\t')[0] ?? '')
  }

  test.each([
    ['coffer ver', ['verify', 'version']],
    ['coffer app ', ['create', 'delete', 'help', 'key', 'list', 'regenerate']],
    ['coffer systemd pr', ['print']],
    ['coffer app create --te', ['--tenant']],
    ['coffer restore mon', ['monday.backup']],
    ['coffer backup --to mon', ['monday.backup']],
  ])('completes %s', (line, expected) => {
    expect(offers(line).toSorted()).toEqual(expected)
  })

  test('offers no files where none may stand', () => {
    expect(offers('coffer verify mon')).toEqual([''])
  })
})
