import { mountCard } from 'coffer/elements'

const button = document.querySelector('#pay')
const outcome = document.querySelector('#outcome')

async function pay() {
  button.disabled = true
  try {
    const { id } = await card.tokenize()
    const answer = await fetch('/orders', { method: 'POST', body: JSON.stringify({ card: id }) })
    const { receipt, error } = await answer.json()
    outcome.textContent = receipt ?? error
  } catch (error) {
    // Of the vault or of the fields, which have told the person what is wrong with them.
    outcome.textContent = error.code === 'invalid_card' ? 'Check the card.' : error.message
  } finally {
    button.disabled = false
  }
}

const { address, key } = await (await fetch('/settings')).json()
const card = mountCard('#card', { address, key, onSubmit: pay })
button.addEventListener('click', pay)
await card.ready
button.disabled = false
