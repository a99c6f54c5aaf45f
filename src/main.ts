/**
 * The command line: parse, dispatch, exit code.
 *
 * 0 is success, 1 a failure, 2 a wrong command line. Every failure is one line on stderr.
 * @module
 */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { version } from '../package.json' with { type: 'json' }
import { dev, type DevOptions } from './cli/dev.ts'
import { CommandFailure } from './cli/failure.ts'
import { init, type InitOptions } from './cli/init.ts'
import { serve, type ServeOptions } from './cli/serve.ts'
import { say } from './cli/system.ts'

const usageExitCode = 2

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : -1
  if (port < 0 || port > 65_535) throw new InvalidArgumentError('expected 0 to 65535')
  return port
}

const dataOption = () =>
  new Option('--data <dir>', 'the data folder').env('COFFER_DATA').default('coffer-data')

const masterKeyOption = () =>
  new Option('--master-key-file <file>', 'where the master key is, if not in the folder').env(
    'COFFER_MASTER_KEY_FILE',
  )

const portOption = () =>
  new Option('--port <number>', 'the port to listen on, 0 for any free one')
    .env('COFFER_PORT')
    .default(3333)
    .argParser(parsePort)

function buildCommands(): Command {
  const program = new Command('coffer')
    .description('A tokenization vault in one binary.')
    .exitOverride()
    .showSuggestionAfterError(false)
    .configureOutput({
      outputError: (text, write) =>
        write(`coffer: ${text.replace(/^error: /, '').trim()}; see --help\n`),
    })
  program
    .command('init')
    .description('make a data folder, and print the first management key once')
    .addOption(dataOption())
    .addOption(masterKeyOption())
    .option('--json', 'print one line of JSON')
    .action((options: InitOptions) => init(options))
  program
    .command('serve')
    .description('serve a data folder')
    .addOption(dataOption())
    .addOption(masterKeyOption())
    .addOption(
      new Option('--host <host>', 'the address to listen on')
        .env('COFFER_HOST')
        .default('127.0.0.1'),
    )
    .addOption(portOption())
    .addOption(
      new Option('--socket <path>', 'a Unix socket to listen on instead').env('COFFER_SOCKET'),
    )
    .action((options: ServeOptions) => serve(options))
  program
    .command('dev')
    .description('start a throw-away vault with three keys')
    .addOption(portOption())
    .option('--json', 'print one line of JSON when it is ready')
    .action((options: DevOptions) => dev(options))
  program
    .command('version')
    .description('print the version')
    .action(() => say(version))
  return program
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageExitCode
  if (error instanceof CommandFailure) {
    process.stderr.write(`coffer: ${error.message}\n`)
    return error.exitCode
  }
  const name = error instanceof Error ? error.name : 'an unknown error'
  process.stderr.write(`coffer: stopped by ${name}: this is a fault of coffer, please report it\n`)
  return 1
}

async function run(): Promise<number> {
  process.umask(0o077)
  try {
    await buildCommands().parseAsync()
    return 0
  } catch (error) {
    return exitCodeOf(error)
  }
}

process.exit(await run())
