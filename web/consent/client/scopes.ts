import { call } from '../../session/call.ts'
import { t } from '../../ui/messages.ts'
import { scopeText } from '../../ui/scope-text.ts'
import { $, element } from './dom.ts'
import type { Scope, Workspace } from './types.ts'

/** A `:write` scope includes its `:read` scope. */
const covers = (granted: readonly string[], scope: string): boolean =>
  granted.includes(scope) || granted.includes(scope.replace(':read', ':write'))

/** Label showing how a scope changes for an app that is already installed. */
const stateOf = (has: boolean, ticked: boolean): string => {
  if (has) return ticked ? t('Already allowed') : t('Allowed now, will be removed')
  return ticked ? t('New') : t('New, not allowed')
}

interface Options {
  refused: ReadonlySet<string>
  onRefuse(scope: string, refused: boolean): void
}

const item = ({ scope, description, dangerous }: Scope, place: Workspace | undefined, options: Options) => {
  const made = element('li', '')
  made.dataset.scope = scope
  const words = element('span', 'words')
  const has = place?.granted_scopes ? covers(place.granted_scopes, scope) : undefined
  const state = element('em', has ? 'state' : 'state new')
  const label = (ticked: boolean): void => {
    made.classList.toggle('refused', !ticked)
    state.textContent = has === undefined ? '' : stateOf(has, ticked)
  }
  const denied = place?.denied_scopes.includes(scope) ?? false
  if (dangerous && !denied) words.append(element('strong', '', t('Sensitive')))
  words.append(element('span', 'description', scopeText(scope, description)), element('small', '', scope))
  if (denied) words.append(element('small', 'why', t('Blocked by a workspace admin')))
  if (has !== undefined) words.append(state)
  const ticked = !denied && !(dangerous && options.refused.has(scope))
  label(ticked)
  if (denied || !dangerous) {
    const mark = element('span', 'mark', denied ? '✕' : '✓')
    mark.ariaHidden = 'true'
    made.append(mark, words)
    return made
  }
  made.classList.add('sensitive')
  const box = element('input', '')
  box.type = 'checkbox'
  box.checked = ticked
  box.onchange = () => {
    options.onRefuse(scope, !box.checked)
    label(box.checked)
  }
  const line = element('label', 'tick')
  line.append(box, words)
  made.append(line)
  return made
}

/** Groups of scopes in the order of their weight, each scope in the first one that it belongs to. */
const GROUPS: { title: string; has: (scope: Scope) => boolean }[] = [
  { title: t('Sensitive permissions'), has: ({ dangerous }) => dangerous },
  { title: t('Make changes'), has: ({ scope }) => !scope.endsWith(':read') },
  { title: t('Read'), has: () => true },
]

/** Lists the requested scopes, the sensitive ones first, and how they differ from what the app may do in the selected workspace today. */
export const renderScopes = (asked: Scope[], place: Workspace | undefined, options: Options): void => {
  const parts = GROUPS.flatMap(({ title, has }) => {
    const items = asked
      .filter((one) => has(one) && GROUPS.find((group) => group.has(one))?.title === title)
      .map((one) => item(one, place, options))
    if (items.length === 0) return []
    const heading = element('h2', 'group', title)
    heading.id = `scopes-${title.charAt(0)}`
    const list = element('ul', '')
    list.setAttribute('aria-labelledby', heading.id)
    list.append(...items)
    return [heading, list]
  })
  $('scopes').replaceChildren(...(parts.length > 0 ? parts : [element('p', 'nothing', t('No permissions requested'))]))
  $('refusable').hidden = !$('scopes').querySelector('input')
  $('again').hidden = !place?.granted_scopes
  const names = asked.map(({ scope }) => scope)
  renderLostScopes((place?.granted_scopes ?? []).filter((scope) => !covers(names, scope)))
}

const renderLostScopes = (scopes: string[]): void => {
  $('lost').hidden = scopes.length === 0
  if (scopes.length === 0) return
  const list = (words: Map<string, string>) =>
    $('lost-scopes').replaceChildren(
      ...scopes.map((scope) => {
        const made = element('li', '')
        const mark = element('span', 'mark', '–')
        mark.ariaHidden = 'true'
        const text = element('span', 'words')
        if (words.has(scope)) text.append(element('span', 'description', scopeText(scope, words.get(scope) ?? '')))
        text.append(element('small', '', scope))
        made.append(mark, text)
        return made
      }),
    )
  list(new Map())
  // The consent request describes only the scopes it asks for.
  call<{ items: Scope[] }>('GET', 'oauth/scopes').then(
    ({ items }) => list(new Map(items.map(({ scope, description }) => [scope, description]))),
    () => {},
  )
}

/** Scopes that approving now would grant. */
export const selectedScopes = (): string[] =>
  [...document.querySelectorAll<HTMLElement>('#scopes li[data-scope]:not(.refused)')].map(
    (one) => one.dataset.scope ?? '',
  )
