import { mountCard } from 'coffer/elements'

/** Styles that the fields share with the page; their colours follow its scheme. */
const styles = {
  label: { fontWeight: '600' },
  input: { borderRadius: '10px', padding: '11px 14px' },
  focus: { outlineColor: '#0d9488' },
}

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
    // The vault or the fields may have failed; the fields have told the person what is wrong.
    outcome.textContent = error.code === 'invalid_card' ? 'Check the card.' : error.message
  } finally {
    button.disabled = false
  }
}

const { address, key } = await (await fetch('/settings')).json()
const card = mountCard('#card', {
  address,
  key,
  styles,
  cardholderName: true,
  onSubmit: pay,
  // The fields have hidden themselves: without the vault nothing can be paid.
  onError: ({ message }) => {
    button.disabled = true
    outcome.textContent = message
  },
})
button.addEventListener('click', pay)
await card.ready
button.disabled = false
