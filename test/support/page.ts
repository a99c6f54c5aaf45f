/**
 * Runs the code blocks of a page as a reader does: with `coffer` on the path, and in an application
 * that has the package.
 * @module
 */
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { cofferCommand } from './coffer-process.ts'
import { temporaryFolder } from './folders.ts'

const root = resolve(import.meta.dir, '../..')

export const readPage = (name: string): string => readFileSync(join(root, name), 'utf8')

/** @param language the word after the fence */
export const blocksOf = (text: string, language: string): readonly string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, 'gm'))].map(
    ([, block = '']) => block.trim(),
  )

/** Returns a path on which the tested `coffer` comes first. */
export function makePath(folder: string): string {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  const quoted = cofferCommand.map(word => `'${word}'`).join(' ')
  writeFileSync(join(bin, 'coffer'), `#!/bin/sh\nexec ${quoted} "$@"\n`)
  chmodSync(join(bin, 'coffer'), 0o755)
  return `${bin}:${process.env['PATH']}`
}

/** Makes the folder of an application that has the package and the types of Bun. */
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

/** Returns the output that a program announces, in comments after each `console.log`. */
export const printedBy = (program: string): string =>
  [...program.matchAll(/console\.log\(.*\) \/\/ (.+)$/gm)].map(([, text]) => `${text}\n`).join('')
