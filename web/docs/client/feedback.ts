import { announce, element } from './dom.ts'

const LONGEST_COMMENT = 500

/** Asks whether the page helped, and if it didn't, why. */
export const addFeedback = (root: string): void => {
  const place = document.querySelector<HTMLElement>('.feedback')
  const { page } = document.body.dataset
  if (!place || !page) return

  const send = async (helpful: boolean, comment?: string): Promise<boolean> => {
    const sent = await fetch(`${root}api/v1/dev/docs/feedback`, {
      method: 'POST',
      credentials: 'omit',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ page, helpful, ...(comment ? { comment } : {}) }),
    }).then(
      ({ ok }) => ok,
      () => false,
    )
    if (!sent) say('Your answer couldn’t be sent. Try again in a minute.')
    return sent
  }

  const state = element('p', { class: 'quiet' })
  const say = (text: string) => {
    state.textContent = text
    announce(text)
  }
  const thank = () => {
    place.replaceChildren(state)
    say('Thank you. We read every answer.')
  }

  const askWhy = () => {
    const label = element('label', { for: 'feedback-comment' }, 'What is missing or wrong?')
    const text = element('textarea', { id: 'feedback-comment', rows: '3', maxlength: String(LONGEST_COMMENT) })
    const form = element(
      'form',
      {},
      label,
      text,
      element('p', { class: 'quiet' }, 'Don’t include personal data or secrets.'),
      element('button', { type: 'submit', class: 'button' }, 'Send'),
    )
    form.addEventListener('submit', async (event) => {
      event.preventDefault()
      if (await send(false, text.value.trim())) thank()
    })
    place.replaceChildren(form, state)
    text.focus()
  }

  const yes = element('button', { type: 'button', class: 'button' }, 'Yes')
  yes.addEventListener('click', async () => {
    if (await send(true)) thank()
  })
  const no = element('button', { type: 'button', class: 'button' }, 'No')
  no.addEventListener('click', askWhy)
  place.replaceChildren(element('p', { id: 'feedback-question' }, 'Did this page help?'), yes, no, state)
}
