import { type Page, renderPage } from './render.ts'

/** Script of the page. User input is only ever set as text. */
const script = `
'use strict'
const byId = (id) => document.getElementById(id)
const notify = (text) => { byId('toast').textContent = text }
const show = async () => {
  const { items } = await (await fetch('messenger/bots')).json()
  byId('made').hidden = items.length === 0
  byId('bots').replaceChildren(...items.map(({ token, username }) => {
    const item = document.createElement('li')
    const link = document.createElement('a')
    link.href = username
    link.textContent = '@' + username
    const code = document.createElement('code')
    code.textContent = token
    item.append(link, ' ', code)
    return item
  }))
}
byId('new').addEventListener('submit', async (event) => {
  event.preventDefault()
  const answer = await fetch('messenger/bots', {
    method: 'POST', headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: byId('name').value, username: byId('username').value }),
  })
  const body = await answer.json()
  if (answer.ok) {
    byId('new').reset()
    notify('Done! Connect @' + body.username + ' to the platform with its token, then write to it.')
  } else notify(body.error)
  show()
})
show()
`

/** Builds the page on which people create their own bots, as with @BotFather. */
export const botFatherPage = (): Page =>
  renderPage({
    title: 'BotFather',
    bar: '<h1>BotFather</h1>',
    script,
    main: `<section class="card" aria-labelledby="new-title">
<h2 id="new-title">A new bot</h2>
<p class="soft">Its token connects it to the platform’s messenger: in the console, or POST /console/messenger/accounts/bot.</p>
<form id="new" class="fields">
<label for="name">Name</label>
<input id="name" autocomplete="off" required maxlength="64">
<label for="username">Username</label>
<input id="username" autocomplete="off" required maxlength="32" placeholder="my_shop_bot">
<button class="primary" type="submit">Create</button>
</form>
<p id="toast" role="status"></p>
<div id="made" hidden>
<h2>Your bots</h2>
<ul id="bots"></ul>
</div>
</section>`,
  })
