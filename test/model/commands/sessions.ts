/**
 * Commands on sessions. Their keys are used by every other command.
 * @module
 */
import fc from 'fast-check'
import { bodyOf, picks, pickOf, sessionGrants } from '../arbitraries.ts'
import { keyOf, sessionAuthorizers, sessionCreators } from '../callers.ts'
import { commandsOf } from '../command.ts'
import { expectAnswer, send, type Server } from '../server.ts'
import { authorizeSession, createSession } from '../sessions.ts'
import { isStanding, type Model, type ModelSession } from '../state.ts'

export const createSessions = commandsOf({
  name: 'create session',
  input: fc.record({ by: sessionCreators }),
  async run(model, server, { by }) {
    const key = keyOf(model, by)
    const answer = await send(server, 'POST', '/sessions', key)
    expectAnswer(model, answer, createSession(model, key, answer.body))
  },
})

/** Mostly one that is not used up; else any that ever was, or none. */
function nonceOf(model: Model, pick: number): string {
  const sessions = [...model.sessions.values()]
  const from = pick % 6 === 0 ? sessions : sessions.filter(one => isUnused(model, one))
  return pickOf(from, pick)?.nonce ?? 'absent'
}

const isUnused = (model: Model, session: ModelSession): boolean =>
  session.grants === undefined && isStanding(model, session)

/** Creates a session if none waits for its authorization. */
async function provideSession(model: Model, server: Server): Promise<void> {
  if ([...model.sessions.values()].some(one => isUnused(model, one))) return
  const key = keyOf(model, { kind: 'public', pick: 0 })
  const answer = await send(server, 'POST', '/sessions', key)
  expectAnswer(model, answer, createSession(model, key, answer.body))
}

export const authorizeSessions = commandsOf({
  name: 'authorize session',
  input: fc.record({ by: sessionAuthorizers, pick: picks, grants: sessionGrants }),
  async run(model, server, { by, pick, grants }) {
    await provideSession(model, server)
    const key = keyOf(model, by)
    const body = { nonce: nonceOf(model, pick), ...bodyOf(model, grants) }
    const answer = await send(server, 'POST', '/sessions/authorize', key, body)
    expectAnswer(model, answer, authorizeSession(model, key, body))
  },
})
