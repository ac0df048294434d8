import type { BotUser } from '../chats.ts'
import { escapeHtml, type Page, renderPage } from './render.ts'

/** Script of the page. Messages are only ever set as text. */
const script = `
'use strict'
const byId = (id) => document.getElementById(id)
const element = (tag, className, text) => {
  const made = document.createElement(tag)
  made.className = className
  made.textContent = text
  return made
}
let name = ''
let source
const notify = (text) => { byId('toast').textContent = text }
const post = async (path, body) => {
  const answer = await fetch('messenger/' + path, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ name, ...body }),
  })
  notify(answer.ok ? '' : 'This action failed.')
  return answer.ok
}
const show = ({ enabled, can_reply, chats, self }) => {
  byId('enabled').checked = enabled
  byId('can-reply').checked = can_reply
  byId('contact-form').hidden = !enabled
  byId('chats').replaceChildren(...chats.map(({ contact, messages }) => {
    const item = document.createElement('li')
    const list = element('ol', 'messages', '')
    for (const { from, text, edit_date } of messages) {
      const line = element('li', from.id === self ? 'mine' : 'theirs', '')
      const bubble = element('p', 'bubble', '')
      bubble.append(element('span', 'unseen', from.first_name + ': '), text + (edit_date ? ' (edited)' : ''))
      line.append(bubble)
      list.append(line)
    }
    item.append(element('h3', '', contact), list)
    return item
  }))
}
const openAccount = (given) => {
  name = given.trim()
  if (name === '') return
  byId('who').value = name
  byId('person').hidden = false
  source?.close()
  source = new EventSource('messenger/business?' + new URLSearchParams({ name }))
  source.onmessage = (event) => show(JSON.parse(event.data))
}
const change = () => post('connection', { enabled: byId('enabled').checked, can_reply: byId('can-reply').checked })
byId('who-form').addEventListener('submit', (event) => {
  event.preventDefault()
  localStorage.setItem('messenger-person', byId('who').value.trim())
  openAccount(byId('who').value)
})
byId('enabled').addEventListener('change', () => {
  if (byId('enabled').checked) byId('can-reply').checked = true
  change()
})
byId('can-reply').addEventListener('change', change)
byId('contact-form').addEventListener('submit', async (event) => {
  event.preventDefault()
  const own = event.submitter?.value === 'own'
  if (await post('contact', { contact: byId('contact').value, text: byId('text').value, own })) byId('text').value = ''
})
openAccount(localStorage.getItem('messenger-person') ?? '')
`

/** Builds the page on which people connect the platform's bot to their own account, and others write to them. */
export const businessPage = ({ first_name, username }: BotUser): Page =>
  renderPage({
    title: 'Telegram Business',
    bar: '<h1>Telegram Business</h1>',
    script,
    main: `<section class="card" aria-labelledby="who-title">
<h2 id="who-title">Choose an account</h2>
<form id="who-form" class="fields">
<label for="who">Name</label>
<input id="who" autocomplete="off" required maxlength="64">
<button type="submit">Continue</button>
</form>
</section>
<section id="person" class="card" hidden aria-labelledby="chatbots-title">
<h2 id="chatbots-title">Chatbots</h2>
<p><label><input id="enabled" type="checkbox"> ${escapeHtml(first_name)} <span class="soft">@${escapeHtml(username)}</span></label></p>
<p><label><input id="can-reply" type="checkbox"> Reply to messages</label></p>
<form id="contact-form" class="fields" hidden>
<h2>Messages</h2>
<label for="contact">The other person’s name</label>
<input id="contact" autocomplete="off" required maxlength="64">
<label for="text">Message</label>
<input id="text" autocomplete="off" required maxlength="4096">
<button class="primary" type="submit">They write</button>
<button type="submit" value="own">The account’s person writes</button>
</form>
<p id="toast" role="status"></p>
<ul id="chats"></ul>
</section>`,
  })
