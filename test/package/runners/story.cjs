/*
 * All that `startVault` gives, in whatever runs this; what comes of it is told as plain values.
 */
const card = { type: 'card', data: { number: '4242424242424242' } }
const codeOf = call =>
  call.then(
    () => 'done',
    error => error.code ?? error.message,
  )

async function tellStory({ startVault, CofferError }) {
  const events = []
  const vault = await startVault({
    startAt: new Date('2030-01-01T00:00:00Z'),
    settings: { basePath: '/vault/', searchGuessesPerMinuteMax: 1 },
    log: event => events.push(event),
  })
  const made = await vault.client('public').tokens.create(card)
  const [id] = await vault.seed([{ ...card, expires_at: '2030-01-01T01:00:00Z' }])
  const desk = await vault.application({ type: 'private', permissions: ['token:read'] })
  const visitor = await vault.session({ permissions: ['token:read'] })
  const refused = await vault
    .client('public')
    .tokens.get(id)
    .catch(error => error)
  const masked = (await desk.client.tokens.get(made.id)).data.number
  const before = await codeOf(visitor.tokens.get(id))
  vault.clock.advance('3m')
  const ended = await codeOf(visitor.tokens.get(id))
  const revealed = (await vault.client().tokens.get(id)).data
  vault.clock.advance('57m')
  const expired = await codeOf(vault.client().tokens.get(id))
  const now = vault.clock.now().toISOString().slice(0, 13)
  const wrongLength = await codeOf(Promise.resolve().then(() => vault.clock.advance('3')))
  const { client } = await vault.application({ type: 'private', permissions: ['token:search'] })
  const search = () => codeOf(client.tokens.searchPage({ query: 'data:a' }, { retries: 0 }))
  const searched = [await search(), await search()]
  vault.clock.advance('60s')
  searched.push(await search())
  const { id: tenantId } = await vault.client('management').tenant.get()
  await vault.stop()
  await vault.stop()
  return {
    address: vault.address.replace(/\d{2,}$|:\d+/, ':port'),
    created: made.data.number,
    masked,
    stopped: await codeOf(desk.client.tokens.get(made.id, { retries: 0 })),
    refused: [refused instanceof CofferError, refused.code],
    session: [before, ended],
    revealed: revealed.number,
    expired,
    now,
    wrongLength,
    isOfTenant: tenantId === vault.tenantId,
    keys: Object.keys(vault.keys).sort(),
    date: await codeOf(startVault({ startAt: new Date('the 1st') })),
    searched,
    events,
  }
}

const expected = {
  address: 'http://127.0.0.1:port/vault',
  created: 'XXXXXXXXXXXX4242',
  masked: 'XXXXXXXXXXXX4242',
  stopped: 'unreachable',
  refused: [true, 'forbidden'],
  session: ['done', 'unauthenticated'],
  revealed: '4242424242424242',
  expired: 'not_found',
  now: '2030-01-01T01',
  wrongLength: 'clock.advance: expected a length such as 90s, 3m, 1h or 2d, or milliseconds',
  isOfTenant: true,
  keys: ['management', 'private', 'public'],
  date: 'startVault: expected startAt to be a date',
  searched: ['done', 'too_many_requests', 'done'],
  events: ['guesses_spent'],
}

module.exports = { expected, tellStory }
