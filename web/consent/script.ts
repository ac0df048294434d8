/**
 * Script of the consent page, as text: it goes into the page whole, and the page's policy names its hash. Whatever comes
 * from an app or a person is set as text, never as markup.
 */
export const script = /* js */ `
'use strict'
const SESSION = 'console-session'
const tg = new URLSearchParams(location.search).get('tg') || ''
const canSignIn = document.body.dataset.localSignIn === 'true'
const $ = (id) => document.getElementById(id)
const show = (id) => {
  for (const section of document.querySelectorAll('section')) section.hidden = section.id !== id
}
const over = (title, text) => {
  $('over-title').textContent = title
  $('over-text').textContent = text
  show('over')
}
const element = (name, className, text) => {
  const made = document.createElement(name)
  if (className) made.className = className
  if (text !== undefined) made.textContent = text
  return made
}

const kept = () => {
  try {
    return JSON.parse(sessionStorage.getItem(SESSION)) || undefined
  } catch {
    return undefined
  }
}
// The first person to open a link owns it: with several people at hand, the page asks who for every link.
const session = () => {
  const one = kept()
  return one && one.until > Date.now() && (!canSignIn || one.link === tg) ? one : undefined
}

const call = async (method, path, body, headers = {}) => {
  const signedIn = session()
  const response = await fetch(path, {
    method,
    headers: {
      ...headers,
      ...(signedIn && { authorization: 'Bearer ' + signedIn.token }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
    cache: 'no-store',
    credentials: 'omit',
  })
  const answer = await response.json().catch(() => ({}))
  if (response.ok) return answer
  const { code = 'internal_error', message = 'Something went wrong.', fix = 'Try again.' } = answer.error || {}
  throw Object.assign(new Error(message), { code, fix, status: response.status })
}

const failed = (error) => {
  if (error.status === 401) {
    sessionStorage.removeItem(SESSION)
    return begin()
  }
  const titles = {
    expired_consent_link: 'This link is over',
    not_found: 'This link is not yours to decide',
    app_suspended: 'The app is suspended',
    validation_error: 'This link is not complete',
  }
  over(titles[error.code] || 'That did not work', error.code ? error.message + ' ' + error.fix : 'No connection. Load the page again.')
}

let request
let choice = { key: '', body: '' }

const place = () => request.workspaces.find(({ id }) => id === $('place').value)

const WHY = {
  admin_required: 'only admins install apps here',
  app_not_approved: 'the app is not approved yet: sandbox workspaces only',
  installation_suspended: 'suspended',
}

const listWorkspaces = () => {
  const usable = request.workspaces.filter((one) => !one.blocked_by)
  const own = session()
  const first = usable.find(({ id }) => own && id === own.workspace) || usable[0]
  $('place').replaceChildren(
    ...request.workspaces.map((one) => {
      const words = one.name + (one.is_sandbox ? ' (sandbox)' : '') + (one.blocked_by ? ' – ' + WHY[one.blocked_by] : '')
      const option = element('option', '', words)
      option.value = one.id
      option.disabled = Boolean(one.blocked_by)
      option.selected = one === first
      return option
    }),
  )
  const none = usable.length === 0
  $('place-problem').hidden = !none
  $('place-problem').textContent = none
    ? 'You cannot install this app in any of your workspaces: ' +
      [...new Set(request.workspaces.map((one) => WHY[one.blocked_by]))].join('; ') + '.'
    : ''
  $('place').disabled = none
  $('approve').disabled = none
}

const scopeItem = ({ scope, description, dangerous }, denied) => {
  const item = element('li', dangerous ? 'sensitive' : '')
  item.dataset.scope = scope
  const words = element('span', 'words', description)
  words.append(element('small', '', scope))
  if (denied) {
    item.classList.add('refused')
    words.append(element('small', '', 'forbidden by an admin of this workspace'))
    item.className = 'refused'
    item.append(element('span', 'mark', '✕'), words)
    return item
  }
  if (!dangerous) {
    item.append(element('span', 'mark', '✓'), words)
    return item
  }
  const label = element('label')
  const box = element('input')
  box.type = 'checkbox'
  box.checked = true
  box.addEventListener('change', () => item.classList.toggle('refused', !box.checked))
  words.prepend(element('strong', '', 'Sensitive'))
  label.append(box, words)
  item.append(label)
  return item
}

const listScopes = () => {
  const denied = (place() || { denied_scopes: [] }).denied_scopes
  const items = request.scopes.map((one) => scopeItem(one, denied.includes(one.scope)))
  if (items.length === 0) items.push(element('li', '', 'Nothing beyond being installed'))
  $('scopes').replaceChildren(...items)
  $('refusable').hidden = !document.querySelector('#scopes input')
}

const granted = () =>
  [...document.querySelectorAll('#scopes li[data-scope]')]
    .filter((item) => !item.classList.contains('refused'))
    .map((item) => item.dataset.scope)

const render = () => {
  const { app } = request
  document.title = 'Give access to ' + app.name
  $('title').textContent = app.name + ' asks for access'
  $('initial').textContent = (app.name.match(/[\\p{L}\\p{N}]/u) || ['?'])[0].toUpperCase()
  $('summary').textContent = app.summary
  $('verified').hidden = !app.verified
  if (app.logo_url) {
    $('logo-image').addEventListener('load', () => { $('logo-image').hidden = false })
    $('logo-image').src = app.logo_url
  }
  if (/^https?:/.test(app.privacy_url || '')) {
    $('privacy-link').href = app.privacy_url
    $('privacy').hidden = false
  }
  $('host').textContent = request.redirect_host
  $('until').textContent = new Date(request.expires_at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
  $('person').textContent = session().name
  listWorkspaces()
  listScopes()
  show('request')
}

const decide = async (decision) => {
  const body = decision === 'deny' ? { tg, decision } : { tg, decision, workspace_id: $('place').value, scopes: granted() }
  const text = JSON.stringify(body)
  // The same answer sent again after a lost connection must not be a second one.
  if (choice.body !== text) choice = { key: crypto.randomUUID(), body: text }
  const buttons = [$('approve'), $('deny')]
  const before = buttons.map(({ disabled }) => disabled)
  for (const button of buttons) button.disabled = true
  $('problem').hidden = true
  try {
    const { redirect_to } = await call('POST', 'consent/decision', body, { 'idempotency-key': choice.key })
    if (!/^https?:$/.test(new URL(redirect_to).protocol)) throw new Error('not an address of the web')
    over('Done', 'Going back to ' + request.redirect_host + '…')
    location.replace(redirect_to)
  } catch (error) {
    buttons.forEach((button, i) => { button.disabled = before[i] })
    if (['expired_consent_link', 'not_found', 'app_suspended'].includes(error.code) || error.status === 401) return failed(error)
    $('problem').textContent = error.code ? error.message + ' ' + error.fix : 'No connection. Try again.'
    $('problem').hidden = false
  }
}

const begin = async () => {
  if (!session()) return show(canSignIn ? 'sign-in' : 'elsewhere')
  show('wait')
  try {
    request = await call('GET', 'consent/request?tg=' + encodeURIComponent(tg))
    render()
  } catch (error) {
    failed(error)
  }
}

$('sign-in-form').addEventListener('submit', async (event) => {
  event.preventDefault()
  const workspace = $('workspace').value.trim()
  try {
    const made = await call('POST', '../console/session', { user: $('user').value.trim(), ...(workspace && { workspace }) })
    const until = Date.now() + made.expires_in * 1000
    const own = { token: made.token, until, name: made.user.name, workspace: made.workspace.id, link: tg }
    sessionStorage.setItem(SESSION, JSON.stringify(own))
    await begin()
  } catch (error) {
    failed(error)
  }
})
$('decision-form').addEventListener('submit', (event) => {
  event.preventDefault()
  decide('approve')
})
$('deny').addEventListener('click', () => decide('deny'))
$('place').addEventListener('change', listScopes)
const last = kept()
if (last && last.name) $('user').value = last.name
begin()
`
