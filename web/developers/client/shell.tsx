import type { ComponentChildren } from 'preact'
import { resolveUrl } from '../../session/config.ts'
import { Brand } from '../../ui/brand.tsx'
import { t } from '../../ui/messages.ts'
import { Frame, type NavItem } from '../../ui/shell.tsx'
import { Name } from '../../ui/text.tsx'
import { type Identity, signOut } from './account.ts'

export const ITEMS: readonly NavItem[] = [
  { to: '/', under: '/apps', label: t('Apps'), icon: 'agents', first: true },
  { to: '/sandbox', label: t('Sandbox'), icon: 'store', first: true },
  { to: '/requests', label: t('Requests'), icon: 'wish', first: true },
  { to: '/team', label: t('Team'), icon: 'people' },
  { to: '/account', label: t('Account'), icon: 'key' },
]

export const Person = ({ who }: { who: Identity }) => (
  <div class="person">
    <p>
      <Name>{who.member?.name ?? who.name}</Name>
      <br />
      {who.role === 'viewer' && (
        <>
          <span class="soft">{t('Viewer: reads only')}</span>
          <br />
        </>
      )}
      <a href={resolveUrl('docs')}>{t('Documentation')}</a>
    </p>
    <button type="button" class="quiet" onClick={() => void signOut()}>
      {t('Sign out')}
    </button>
  </div>
)

export const Shell = ({ who, children }: { who: Identity; children: ComponentChildren }) => (
  <Frame
    name={t('Developers')}
    kind="developers"
    items={ITEMS}
    top={<Brand page={t('Developers')} />}
    person={<Person who={who} />}
  >
    {children}
  </Frame>
)
