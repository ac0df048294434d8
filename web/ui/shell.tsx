import type { ReadonlySignal } from '@preact/signals'
import { type ComponentChildren, createElement } from 'preact'
import { useState } from 'preact/hooks'
import { miniApp } from '../session/config.ts'
import { Icon, type IconName } from './icons.tsx'
import { t } from './messages.ts'
import { place } from './router.ts'
import { Screen } from './screen.tsx'
import { useScript } from './script.ts'

/** A navigation link. */
export interface NavItem {
  to: string
  label: string
  icon: IconName
  /** Shown in the bottom bar of narrow windows. */
  first?: true
  /** Heading that it is shown below, together with its neighbours of the same group. */
  group?: string
  /** Places below another one that belong to it, too. */
  under?: string
  /** True for users who may see it; everyone if omitted. */
  only?: ReadonlySignal<boolean>
  /** Number of items that need attention, with a description for screen readers. */
  count?: { of: ReadonlySignal<number>; words: string }
}

const isAt = ({ to, under = to }: NavItem, path: string): boolean =>
  path === to || (under !== '/' && path.startsWith(`${under}/`))

const isVisible = ({ only }: NavItem): boolean => !only || only.value

/** Formats a count for a badge. */
export const shortCount = (count: number): string => (count > 99 ? '99+' : String(count))

const NavLink = ({ item, item: { to, label, icon, count }, extra }: { item: NavItem; extra?: boolean }) => (
  <a
    href={`#${to}`}
    class={extra ? 'nav-link extra' : 'nav-link'}
    {...(isAt(item, place.value.path) && { 'aria-current': 'page' as const })}
  >
    <Icon name={icon} />
    <span>{label}</span>
    {count && count.of.value > 0 && (
      <span class="count">
        {shortCount(count.of.value)}
        <span class="unseen"> {count.words}</span>
      </span>
    )}
  </a>
)

/** Items by their headings, in their order. Those that the user may not see are left out. */
const groupsOf = (items: readonly NavItem[]): [group: string | undefined, NavItem[]][] =>
  [...new Set(items.map(({ group }) => group))].map((name) => [
    name,
    items.filter((item) => item.group === name && isVisible(item)),
  ])

const FOLDED = 'folded'

/** Names of the groups that the user has closed in this browser. */
const foldedGroups = (): string[] => {
  try {
    return JSON.parse(localStorage.getItem(FOLDED) ?? '[]')
  } catch {
    return []
  }
}

const fold = (name: string, isFolded: boolean): void => {
  try {
    const others = foldedGroups().filter((one) => one !== name)
    localStorage.setItem(FOLDED, JSON.stringify(isFolded ? [...others, name] : others))
  } catch {
    // Without storage, it is open again after a reload.
  }
}

/** Links below a heading that closes them. The group of the current screen is open. */
const NavGroup = ({ name, items }: { name: string; items: NavItem[] }) => (
  <details
    class="nav-group extra"
    open={items.some((item) => isAt(item, place.value.path)) || !foldedGroups().includes(name)}
    onToggle={({ currentTarget }) => fold(name, !currentTarget.open)}
  >
    <summary>{name}</summary>
    {items.map((item) => (
      <NavLink key={item.to} item={item} />
    ))}
  </details>
)

const loadDialog = () => import('./appearance.tsx')

const AppearanceDialog = ({ onClose }: { onClose: () => void }) => {
  const { script } = useScript(loadDialog)
  return script ? createElement(script.default, { onClose }) : null
}

/** Opens the choice of theme and density. Inside Telegram its colours count. @param isIcon without words */
const AppearanceButton = ({ isIcon }: { isIcon?: boolean }) => {
  const [isOpen, setOpen] = useState(false)
  if (miniApp) return null
  return (
    <>
      <button type="button" class="quiet" onClick={() => setOpen(true)}>
        <Icon name="appearance" />
        <span class={isIcon ? 'unseen' : ''}>{t('Appearance')}</span>
      </button>
      {isOpen && <AppearanceDialog onClose={() => setOpen(false)} />}
    </>
  )
}

/** Links that don't fit in the bottom bar of narrow windows. */
export const MoreScreen = ({ items, person }: { items: readonly NavItem[]; person: ComponentChildren }) => (
  <Screen title={t('More')}>
    {groupsOf(items.filter(({ first }) => !first)).map(([name, own]) => (
      <section key={name} class="section">
        {name && <h2>{name}</h2>}
        <ul class="rows">
          {own.map((item) => (
            <li key={item.to}>
              <NavLink item={item} />
            </li>
          ))}
        </ul>
      </section>
    ))}
    {person}
    <AppearanceButton />
  </Screen>
)

/**
 * Frame around every screen.
 * @param name name of the navigation for screen readers
 * @param top content above the navigation
 * @param lead content at the top of the navigation of wide windows
 * @param person content below the navigation
 */
export const Frame = ({
  name,
  items,
  top,
  lead,
  person,
  kind,
  children,
}: {
  name: string
  items: readonly NavItem[]
  top: ComponentChildren
  lead?: ComponentChildren
  person: ComponentChildren
  /** CSS class for styles of one page only. */
  kind?: string
  children: ComponentChildren
}) => (
  <div class={kind ? `shell ${kind}` : 'shell'}>
    <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
      {t('Skip to content')}
    </button>
    <header class="top">{top}</header>
    <nav aria-label={name}>
      {lead}
      {groupsOf(items).map(([group, own]) =>
        group ? (
          <NavGroup key={group} name={group} items={own} />
        ) : (
          own.map((item) => <NavLink key={item.to} item={item} extra={!item.first} />)
        ),
      )}
      <a
        href="#/more"
        class="nav-link only-narrow"
        {...(place.value.path === '/more' && { 'aria-current': 'page' as const })}
      >
        <Icon name="more" />
        <span>{t('More')}</span>
      </a>
      <div class="nav-foot">
        {person}
        <AppearanceButton isIcon />
      </div>
    </nav>
    <main id="main" tabIndex={-1}>
      {children}
    </main>
  </div>
)
