/**
 * The manifests of `examples/kubernetes` and `examples/compose`: as their schemas have them, and
 * run as they stand but for addresses, ports and the bucket: each container by chroot in the image,
 * with volumes owned as Kubernetes gives them to a pod with an `fsGroup`.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { packagingTool } from '../../scripts/packaging-tools.ts'
import { selfSigned } from '../support/certificates.ts'
import { temporaryFolder } from '../support/folders.ts'
import { imageCommand, makeImageRoot, mayMount } from '../support/image.ts'

const examples = resolve(import.meta.dir, '../../examples')
const binary = process.env['COFFER_BINARY']
const group = 65532

interface Container {
  readonly args: readonly string[]
  readonly volumeMounts: readonly { name: string; mountPath: string; readOnly?: boolean }[]
}
interface Templated {
  readonly template?: { readonly spec: { readonly containers: readonly [Container] } }
}
interface Manifest {
  readonly kind: string
  readonly spec: Templated & { readonly jobTemplate?: { readonly spec: Templated } }
}

const manifestsOf = (file: string): readonly Manifest[] =>
  [Bun.YAML.parse(readFileSync(join(examples, 'kubernetes', file), 'utf8')) as Manifest[]].flat()

function containerOf(file: string, kind: string): Container {
  const found = manifestsOf(file).find(manifest => manifest.kind === kind)
  const { template } = found?.spec.jobTemplate?.spec ?? found?.spec ?? {}
  const container = template?.spec.containers[0]
  if (container === undefined) throw new Error(`no ${kind} in ${file}`)
  return container
}

const checked = (command: readonly string[]) => {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command])
  return { exitCode, told: stdout.toString() + stderr.toString() }
}

const kubernetesValidate = packagingTool('kubernetes-validate')

describe.skipIf(kubernetesValidate === undefined)('for Kubernetes', () => {
  const check = (path: string) => checked([kubernetesValidate ?? '', '--strict', '--quiet', path])

  test.each(readdirSync(join(examples, 'kubernetes')))('%s is as its schemas have it', file => {
    expect(check(join(examples, 'kubernetes', file))).toEqual({ exitCode: 0, told: '' })
  })

  test('a misspelled member would be found', () => {
    const text = readFileSync(join(examples, 'kubernetes/coffer.yaml'), 'utf8')
    const path = join(temporaryFolder(), 'coffer.yaml')
    writeFileSync(path, text.replace('runAsNonRoot', 'runsAsNonRoot'))
    const { exitCode, told } = check(path)
    expect([exitCode, told]).toEqual([1, expect.stringContaining('runsAsNonRoot')])
  })
})

const python = packagingTool('python')
const parseCompose = `import sys, compose_spec
options = compose_spec.PyOptions()
options.apply_merge = True
options.from_yaml(open(sys.argv[1]).read()).validate()`

test.skipIf(python === undefined)('the Compose file is as its specification has it', () => {
  const check = (path: string) => checked([python ?? '', '-c', parseCompose, path])
  const path = join(examples, 'compose/compose.yaml')
  expect(check(path)).toEqual({ exitCode: 0, told: '' })
  const wrong = join(temporaryFolder(), 'compose.yaml')
  writeFileSync(wrong, readFileSync(path, 'utf8').replaceAll('- data:/data', '- dat:/data'))
  expect(check(wrong)).toEqual({ exitCode: 1, told: expect.stringContaining('`dat`') })
})

describe.skipIf(binary === undefined || !mayMount)('the pods', () => {
  const folders: Record<string, string> = {}
  let root: string

  /** Makes a folder as a volume of a pod with an `fsGroup` is. */
  const makeFolder = (name: string, files: Readonly<Record<string, string>> = {}): void => {
    const path = join(temporaryFolder(), name)
    mkdirSync(path)
    chownSync(path, 0, group)
    chmodSync(path, 0o2775)
    for (const [file, content] of Object.entries(files)) {
      writeFileSync(join(path, file), content)
      chownSync(join(path, file), 0, group)
      chmodSync(join(path, file), 0o440)
    }
    folders[name] = path
  }

  beforeAll(() => {
    root = join(temporaryFolder(), 'root')
    makeImageRoot(resolve(binary ?? ''), root)
    for (const path of ['tls', 'scratch']) mkdirSync(join(root, path))
    const { cert, key } = selfSigned(temporaryFolder(), 'coffer')
    const [certificate, secret] = [cert, key].map(path => readFileSync(path, 'utf8'))
    makeFolder('tls', { 'tls.crt': certificate ?? '', 'tls.key': secret ?? '' })
    makeFolder('key', { 'master.key': `${'0f'.repeat(32)}\n` })
    for (const name of ['data', 'scratch', 'backups']) makeFolder(name)
  })

  const start = ({ args, volumeMounts }: Container, ...more: readonly string[]) => {
    const mounts = volumeMounts.map(({ name, mountPath, readOnly = false }) => [
      readOnly ? `${mountPath}:ro` : mountPath,
      folders[name] ?? '',
    ])
    const volumes = { ...Object.fromEntries(mounts), '/backups': folders['backups'] ?? '' }
    const given = args.map(arg =>
      arg
        .replace(/s3:.*/, '/backups')
        .replace('0.0.0.0', '127.0.0.1')
        .replace(/port=\d+/, 'port=0'),
    )
    const command = imageCommand({ root, volumes }, [...given, ...more])
    return Bun.spawn(command, { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  }

  async function runTrial() {
    const trial = start(containerOf('coffer.yaml', 'CronJob'))
    const [stdout, stderr] = await Promise.all([trial.stdout.text(), trial.stderr.text()])
    return { exitCode: await trial.exited, stdout, stderr }
  }

  /** It takes the newest one, leaves nothing, and fails where that is cut. */
  async function expectTrials(): Promise<void> {
    const backups = folders['backups'] ?? ''
    const [newest = ''] = readdirSync(backups).filter(name => name.endsWith('.backup'))
    copyFileSync(join(backups, newest), join(backups, 'coffer-20200101T000000Z.backup'))
    const found = () => ['backups', 'scratch'].map(name => readdirSync(folders[name] ?? '').sort())
    const before = found()
    const { stdout, ...ended } = await runTrial()
    expect(ended).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout).toContain(`the newest backup there: /backups/${newest}\n`)
    expect(stdout).toMatch(/^the backup is whole: \d+ rows of /m)
    const cut = join(backups, newest)
    truncateSync(cut, statSync(cut).size - 1)
    expect(await runTrial()).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(`the backup at /backups/${newest} is damaged or cut short`),
    })
    expect(found()).toEqual(before)
  }

  test('the job makes the vault, the server backs it up, and the trial restores it', async () => {
    const init = start(containerOf('init.yaml', 'Job'))
    expect([await init.stderr.text(), await init.exited]).toEqual(['', 0])
    const key = readFileSync(join(folders['scratch'] ?? '', 'management.key'), 'utf8').trim()
    const server = start(containerOf('coffer.yaml', 'StatefulSet'))
    let told = ''
    for await (const text of server.stdout.pipeThrough(new TextDecoderStream())) {
      told += text
      if (/https:\S+\d/.test(told)) break
    }
    const [vault] = told.match(/https:\S+\d/) ?? []
    const tls = { ca: readFileSync(join(folders['tls'] ?? '', 'tls.crt'), 'utf8') }
    const answer = await fetch(`${vault}/applications`, { headers: { 'SVC-API-KEY': key }, tls })
    expect(answer.status).toBe(200)
    const [ops] = told.match(/http:\S+\d/) ?? []
    expect(await (await fetch(`${ops}/readyz`)).text()).toBe('ready\n')
    const made = () => readdirSync(folders['backups'] ?? '').filter(it => it.endsWith('.backup'))
    while (made().length === 0) await Bun.sleep(50)
    const below = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'latin1')
    process.kill(Number(below.trim()), 'SIGTERM')
    expect(await server.exited).toBe(0)
    await expectTrials()
  }, 300_000)
})
