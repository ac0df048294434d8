import { useEffect, useState } from 'preact/hooks'
import { api, type Schemas, take } from '../api.ts'
import { usePages } from '../data.ts'
import { words } from '../format.ts'
import { goInstead, place } from '../router.ts'
import { Empty, Field, More, Screen, Shown } from '../ui/kit.tsx'
import { Logo, Name, Stars } from '../ui/text.tsx'

type App = Schemas['MarketplaceApp']

const CATEGORIES = [
  'analytics',
  'communication',
  'content',
  'developer-tools',
  'ecommerce',
  'finance',
  'hr',
  'legal',
  'marketing',
  'operations',
  'productivity',
  'sales',
  'support',
  'other',
] as const

const Tile = ({ app }: { app: App }) => (
  <li>
    <a class="tile" href={`#/marketplace/${app.slug}`}>
      <span class="row">
        <Logo name={app.name} url={app.logo_url} />
        <span class="grow">
          <strong>
            <Name>{app.name}</Name>
          </strong>
          <span class="soft">
            <Name>{app.developer_name || 'An unnamed developer'}</Name>
            {app.verified && ' · ✓ verified'}
          </span>
        </span>
      </span>
      <p>
        <Name>{app.summary}</Name>
      </p>
      <span class="row">
        <span class="grow">
          <Stars rating={app.rating.average} count={app.rating.count} />
        </span>
        {app.installation ? (
          <span class="state good">✓ Installed</span>
        ) : (
          app.featured && <span class="state act">Featured</span>
        )}
      </span>
    </a>
  </li>
)

export default function Marketplace() {
  const { query } = place.value
  const [typed, setTyped] = useState(query.get('q') ?? '')
  const q = query.get('q') ?? ''
  const category = CATEGORIES.find((one) => one === query.get('category'))
  const search = (changes: { q?: string; category?: string }): void => {
    const next = new URLSearchParams({ q, category: category ?? '', ...changes })
    for (const [name, value] of [...next]) if (!value) next.delete(name)
    goInstead(next.size > 0 ? `/marketplace?${next}` : '/marketplace')
  }
  useEffect(() => {
    // Not at each letter: when the person stops to look.
    const timer = setTimeout(() => typed.trim() !== q && search({ q: typed.trim() }), 300)
    return () => clearTimeout(timer)
  })
  const apps = usePages(`installations marketplace ${q} ${category}`, (cursor) =>
    take(
      api.GET('/console/marketplace', {
        params: { query: { ...(q && { q }), ...(category && { category }), ...(cursor && { cursor }) } },
      }),
    ),
  )
  return (
    <Screen title="Marketplace" wide>
      <search class="filters">
        <Field label="Search">
          {(field) => (
            <input
              {...field}
              type="search"
              value={typed}
              maxLength={100}
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
          )}
        </Field>
        <Field label="Category">
          {(field) => (
            <select
              {...field}
              value={category ?? ''}
              onChange={(event) => search({ category: event.currentTarget.value })}
            >
              <option value="">All</option>
              {CATEGORIES.map((one) => (
                <option key={one} value={one}>
                  {words(one.replaceAll('-', ' '))}
                </option>
              ))}
            </select>
          )}
        </Field>
      </search>
      <Shown known={apps} rows={4} tall>
        {({ items }) =>
          items.length === 0 && !apps.more ? (
            <Empty title={q || category ? 'Nothing fits.' : 'There are no agents yet.'}>
              <p>
                Missing something? <a href="#/wishlist">Wish for an agent.</a>
              </p>
            </Empty>
          ) : (
            <ul class="grid">
              {items.map((app) => (
                <Tile key={app.id} app={app} />
              ))}
            </ul>
          )
        }
      </Shown>
      <More more={apps.more} />
    </Screen>
  )
}
