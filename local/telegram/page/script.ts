/** Script of the messenger's page. Messages are only ever set as text. */
export const script = `
'use strict'
const byId = (id) => document.getElementById(id)
const element = (tag, className, text) => {
  const made = document.createElement(tag)
  if (className) made.className = className
  if (text !== undefined) made.textContent = text
  return made
}
const START = new URLSearchParams(location.search).get('start') ?? ''
const TITLE = document.title
const bot = location.pathname.split('/').at(-1)
let name = ''
let source
let started = false
let shown = new Map()
let replyingTo

const names = () => {
  try { return JSON.parse(localStorage.getItem('messenger-names') ?? '[]') } catch { return [] }
}
const post = async (path, body) => {
  const answer = await fetch('messenger/' + path, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ bot, name, ...body }),
  })
  if (!answer.ok) throw new Error('The stand-in answered ' + answer.status)
  return answer.json()
}
const say = (text) => {
  const reply_to = replyingTo
  reply()
  return post('messages', { text, reply_to }).catch(notify)
}
/** Chooses the message that the next one replies to, or none. */
const reply = (message) => {
  replyingTo = message?.message_id
  byId('replying').hidden = !message
  byId('reply-text').textContent = message ? message.text.split('\\n')[0] : ''
  if (message) byId('text').focus()
}
const notify = (problem) => { byId('toast').textContent = problem.message ?? String(problem) }

const press = async (message, button, at) => {
  at.disabled = true
  byId('toast').textContent = ''
  try {
    const { text = '' } = await post('press', { message_id: message.message_id, button })
    byId('toast').textContent = text
  } catch (problem) { notify(problem) }
  at.disabled = false
}

const buttonOf = (message, button, index) => {
  if (button.callback_data !== undefined) {
    const made = element('button', '', button.text)
    made.type = 'button'
    made.addEventListener('click', () => press(message, index, made))
    return made
  }
  const made = element('a', 'button', button.text + ' ↗')
  made.href = 'messenger/open?' + new URLSearchParams({ bot, name, message_id: message.message_id, button: index })
  made.target = '_blank'
  made.rel = 'noopener noreferrer'
  return made
}

const itemOf = (message) => {
  const item = element('li', message.from.is_bot ? 'theirs' : 'mine')
  const bubble = element('p', 'bubble')
  bubble.append(element('span', 'unseen', message.from.is_bot ? 'Bot: ' : 'You: '), message.text)
  const at = new Date((message.edit_date ?? message.date) * 1000)
  const time = element('time', '', (message.edit_date ? 'edited ' : '') + at.toLocaleTimeString())
  time.dateTime = at.toISOString()
  bubble.append(time)
  if (message.reply_to_message) bubble.prepend(element('span', 'quote', message.reply_to_message.text.split('\\n')[0]))
  item.append(bubble)
  if (message.from.is_bot) {
    const made = element('button', 'reply', 'Reply')
    made.type = 'button'
    made.addEventListener('click', () => reply(message))
    item.append(made)
  }
  let index = 0
  for (const row of message.reply_markup?.inline_keyboard ?? []) {
    const line = element('div', 'row')
    for (const button of row) line.append(buttonOf(message, button, index++))
    item.append(line)
  }
  return item
}

const show = (messages) => {
  const before = shown
  shown = new Map()
  for (const message of messages) {
    const text = JSON.stringify(message)
    const known = before.get(message.message_id)
    shown.set(message.message_id, known?.text === text ? known : { text, item: itemOf(message) })
  }
  const list = byId('messages')
  const items = [...shown.values()].map(({ item }) => item)
  // Unchanged messages stay in place and keep the focus.
  items.forEach((item, i) => { if (list.children[i] !== item) list.insertBefore(item, list.children[i] ?? null) })
  while (list.children.length > items.length) list.lastElementChild.remove()
  byId('empty').hidden = items.length > 0
  byId('start').hidden = started || (items.length > 0 && START === '')
  if (before.size !== shown.size) window.scrollTo(0, document.body.scrollHeight)
}

const ask = () => {
  source?.close()
  name = ''
  byId('me').hidden = byId('chat').hidden = true
  byId('who').hidden = false
  const known = names()
  byId('known').hidden = known.length === 0
  byId('names').replaceChildren(...known.map((each) => {
    const item = element('li')
    const button = element('button', '', each)
    button.type = 'button'
    button.addEventListener('click', () => signIn(each))
    item.append(button)
    return item
  }))
  byId('name').value = ''
  byId('name').focus()
}

const signIn = (given) => {
  name = given.trim()
  if (name === '') return
  reply()
  localStorage.setItem('messenger-names', JSON.stringify([name, ...names().filter((each) => each !== name)].slice(0, 8)))
  localStorage.setItem('messenger-person', name)
  document.title = name + ' · ' + TITLE
  byId('person').textContent = name
  byId('who').hidden = true
  byId('me').hidden = byId('chat').hidden = false
  byId('messages').replaceChildren()
  shown = new Map()
  started = false
  source?.close()
  source = new EventSource('messenger/chat?' + new URLSearchParams({ bot, name }))
  source.onmessage = (event) => {
    show(JSON.parse(event.data))
    if (!byId('start').hidden && document.activeElement === document.body) byId('start').focus()
  }
  byId('toast').textContent = ''
}

byId('who-form').addEventListener('submit', (event) => { event.preventDefault(); signIn(byId('name').value) })
byId('change').addEventListener('click', () => { localStorage.removeItem('messenger-person'); document.title = TITLE; ask() })
byId('start').addEventListener('click', () => {
  started = true
  byId('start').hidden = true
  byId('text').focus()
  say(/^[A-Za-z0-9_-]{1,64}$/.test(START) ? '/start ' + START : '/start')
})
byId('write').addEventListener('submit', (event) => {
  event.preventDefault()
  const text = byId('text').value.trim()
  if (text === '') return
  byId('text').value = ''
  say(text)
})
byId('no-reply').addEventListener('click', () => reply())
const current = localStorage.getItem('messenger-person')
if (current) signIn(current)
else ask()
`
