#!/usr/bin/env node
/*
 * The command of the npm package. The vault runs on Bun.
 */
import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findBun } from './program.cjs'

const program = join(dirname(fileURLToPath(import.meta.url)), 'main.js')

const parentCheckMs = 1_000
const parent = process.ppid
const child = spawn(findBun(), [program, ...process.argv.slice(2)], { stdio: 'inherit' })
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
// `coffer dev` ends with the process that started it, which is this process to it. The signal is what a
// terminal would send that goes; a server that stays reads its certificates again.
const timer = setInterval(() => {
  if (process.ppid === parent) return
  clearInterval(timer)
  child.kill('SIGHUP')
}, parentCheckMs)
child.on('error', () => {
  console.error('coffer: found no Bun to run on: install the package bun beside it')
  process.exit(1)
})
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code ?? 1)
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
})
