import type { ReadonlySignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icons.tsx'
import { place } from './router.ts'
import { Screen } from './screen.tsx'

/** A place that the page's navigation leads to. */
export interface Item {
  to: string
  label: string
  icon: IconName
  /** Also in the bar at the bottom of narrow windows. */
  first?: true
  /** Whom it is for; everybody, unless given. */
  only?: ReadonlySignal<boolean>
  /** How many things wait there, and for what. */
  count?: { of: ReadonlySignal<number>; words: string }
}

const isAt = (to: string, path: string): boolean => path === to || (to !== '/' && path.startsWith(`${to}/`))

const isVisible = ({ only }: Item): boolean => !only || only.value

/** As much of a number as there is room for. */
export const shortCount = (count: number): string => (count > 99 ? '99+' : String(count))

const NavLink = ({ item: { to, label, icon, count }, extra }: { item: Item; extra?: boolean }) => (
  <a
    href={`#${to}`}
    class={extra ? 'nav-link extra' : 'nav-link'}
    {...(isAt(to, place.value.path) && { 'aria-current': 'page' as const })}
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

/** Everything that has no room in the bar of a narrow window. */
export const MoreScreen = ({ items, person }: { items: readonly Item[]; person: ComponentChildren }) => (
  <Screen title="More">
    <ul class="rows">
      {items
        .filter((item) => isVisible(item) && !item.first)
        .map((item) => (
          <li key={item.to}>
            <NavLink item={item} />
          </li>
        ))}
    </ul>
    {person}
  </Screen>
)

/**
 * What stands around every screen.
 * @param name the navigation's, for screen readers
 * @param top stands over it
 * @param person stands below it
 */
export const Frame = ({
  name,
  items,
  top,
  person,
  kind,
  children,
}: {
  name: string
  items: readonly Item[]
  top: ComponentChildren
  person: ComponentChildren
  /** A class for what only one page's frame has. */
  kind?: string
  children: ComponentChildren
}) => (
  <div class={kind ? `shell ${kind}` : 'shell'}>
    <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
      Skip to the content
    </button>
    <header class="top">{top}</header>
    <nav aria-label={name}>
      {items.filter(isVisible).map((item) => (
        <NavLink key={item.to} item={item} extra={!item.first} />
      ))}
      <a
        href="#/more"
        class="nav-link only-narrow"
        {...(place.value.path === '/more' && { 'aria-current': 'page' as const })}
      >
        <Icon name="more" />
        <span>More</span>
      </a>
      {person}
    </nav>
    <main id="main" tabIndex={-1}>
      {children}
    </main>
  </div>
)
