/**
 * The code blocks of a page, run as a reader runs them: with `coffer` on the path, and in an
 * application that has the package.
 * @module
 */
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { cofferCommand } from './coffer-process.ts'
import { temporaryFolder } from './folders.ts'

const root = resolve(import.meta.dir, '../..')

export const readPage = (name: string): string => readFileSync(join(root, name), 'utf8')

/** @param language as it stands behind the fence */
export const blocksOf = (text: string, language: string): readonly string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, 'gm'))].map(
    ([, block = '']) => block.trim(),
  )

/** A path on which `coffer` comes first, the one that is tested. */
export function makePath(folder: string): string {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  const quoted = cofferCommand.map(word => `'${word}'`).join(' ')
  writeFileSync(join(bin, 'coffer'), `#!/bin/sh\nexec ${quoted} "$@"\n`)
  chmodSync(join(bin, 'coffer'), 0o755)
  return `${bin}:${process.env['PATH']}`
}

/** A folder of an application that has the package and types of Bun. */
export function makeApplication(): string {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(root, join(folder, 'node_modules', 'coffer'))
  for (const name of ['bun-types', 'elysia', '@elysiajs']) {
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  }
  return folder
}

export interface Ended {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

export async function runIn(
  cwd: string,
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const child = Bun.spawn([...command], {
    cwd,
    env: { PATH: process.env['PATH'], ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  return { exitCode: await child.exited, stdout, stderr }
}

/** What a program prints by its own words: what stands as a comment behind each `console.log`. */
export const printedBy = (program: string): string =>
  [...program.matchAll(/console\.log\(.*\) \/\/ (.+)$/gm)].map(([, text]) => `${text}\n`).join('')
