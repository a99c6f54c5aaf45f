/**
 * Commands on one application.
 * @module
 */
import fc from 'fast-check'
import * as predict from '../applications.ts'
import { applicationChanges, bodyOf, newApplications, picks, pickOf } from '../arbitraries.ts'
import { callersOf, keyOf, managers } from '../callers.ts'
import { commandsOf } from '../command.ts'
import { expectAnswer, send } from '../server.ts'
import type { Model } from '../state.ts'

/** An application that is or was there, its id in either case, or one that never was. */
const targets = fc.record({ isKnown: fc.integer({ min: 0, max: 9 }), pick: picks })

function targetOf(model: Model, { isKnown, pick }: { isKnown: number; pick: number }): string {
  const known = pickOf([...model.applications.keys()], pick) ?? ''
  if (isKnown === 9) return '00000000-0000-4000-8000-000000000000'
  return isKnown === 8 ? known.toUpperCase() : known
}

const pathOf = (id: string): string => `/applications/${encodeURIComponent(id)}`

export const createApplications = commandsOf({
  name: 'create application',
  input: fc.record({ by: managers, application: newApplications }),
  async run(model, server, { by, application }) {
    const key = keyOf(model, by)
    const body = bodyOf(model, application)
    const answer = await send(server, 'POST', '/applications', key, body)
    expectAnswer(model, answer, predict.createApplication(model, key, body, answer.body))
  },
})

export const getApplications = commandsOf({
  name: 'get application',
  input: fc.record({ by: managers, target: targets }),
  async run(model, server, { by, target }) {
    const key = keyOf(model, by)
    const id = targetOf(model, target)
    const answer = await send(server, 'GET', pathOf(id), key)
    expectAnswer(model, answer, predict.getApplication(model, key, id))
  },
})

export const getOwnApplications = commandsOf({
  name: 'get the application of the key',
  input: callersOf({ any: 6 }),
  async run(model, server, by) {
    const key = keyOf(model, by)
    const answer = await send(server, 'GET', '/applications/key', key)
    expectAnswer(model, answer, predict.getOwnApplication(model, key))
  },
})

export const updateApplications = commandsOf({
  name: 'update application',
  input: fc.record({ by: managers, target: targets, changes: applicationChanges }),
  async run(model, server, { by, target, changes }) {
    const key = keyOf(model, by)
    const id = targetOf(model, target)
    const { name, isMismatch, ...grants } = changes
    const type = model.applications.get(id)?.type ?? 'private'
    const body = { name, ...grants[isMismatch ? 'management' : type] }
    const answer = await send(server, 'PUT', pathOf(id), key, body)
    expectAnswer(model, answer, predict.updateApplication(model, key, id, body))
  },
})

export const regenerateKeys = commandsOf({
  name: 'regenerate key',
  input: fc.record({ by: managers, target: targets }),
  async run(model, server, { by, target }) {
    const key = keyOf(model, by)
    const id = targetOf(model, target)
    const answer = await send(server, 'POST', `${pathOf(id)}/regenerate`, key)
    expectAnswer(model, answer, predict.regenerateKey(model, key, id, answer.body))
  },
})

export const deleteApplications = commandsOf({
  name: 'delete application',
  input: fc.record({ by: managers, target: targets }),
  async run(model, server, { by, target }) {
    const key = keyOf(model, by)
    const id = targetOf(model, target)
    const answer = await send(server, 'DELETE', pathOf(id), key)
    expectAnswer(model, answer, predict.deleteApplication(model, key, id))
  },
})
