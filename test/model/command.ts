/**
 * Turns a step, plain data and one function, into a command that fast-check runs and shrinks.
 * @module
 */
import type fc from 'fast-check'
import type { AsyncCommand } from 'fast-check'
import type { Server } from './server.ts'
import type { Model } from './state.ts'

export interface Step<Input> {
  readonly name: string
  readonly input: fc.Arbitrary<Input>
  /** Asks the server, asks the model, and fails if they differ. */
  readonly run: (model: Model, server: Server, input: Input) => Promise<void>
}

export type ModelCommand = AsyncCommand<Model, Server>

export const commandsOf = <Input>({ name, input, run }: Step<Input>): fc.Arbitrary<ModelCommand> =>
  input.map(value => ({
    check: () => true,
    run: (model, server) => run(model, server, value),
    toString: () => `${name} ${JSON.stringify(value)}`,
  }))
