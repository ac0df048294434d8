import { useEffect, useState } from 'preact/hooks'
import { resolveUrl } from '../../../session/config.ts'
import { CATEGORIES, type Category } from '../../../ui/categories.ts'
import { usePages } from '../../../ui/data.ts'
import { Field, TextField } from '../../../ui/form.tsx'
import { rich, t } from '../../../ui/messages.ts'
import type { paths } from '../../../ui/platform.d.ts'
import { place, redirect } from '../../../ui/router.ts'
import { Empty, More, Screen, Shown } from '../../../ui/screen.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { Tiles } from '../ui/tiles.tsx'

type App = Schemas['MarketplaceApp']

type Sort = NonNullable<NonNullable<paths['/console/marketplace']['get']['parameters']['query']>['sort']>

/** Every order of the API, with its label. */
const SORTS: Record<Sort, string> = { featured: t('Featured'), newest: t('Newest'), name: t('Name') }

/** Featured apps on a shelf of their own, as long as nobody searches. */
const Shelves = ({ apps }: { apps: readonly App[] }) => {
  const featured = apps.filter((app) => app.featured)
  const others = apps.filter((app) => !app.featured)
  if (featured.length === 0 || others.length === 0) return <Tiles apps={apps} />
  return (
    <>
      <section aria-labelledby="featured">
        <h2 id="featured">{t('Featured')}</h2>
        <Tiles apps={featured} />
      </section>
      <section class="further" aria-labelledby="others">
        <h2 id="others">{t('Newest')}</h2>
        <Tiles apps={others} />
      </section>
    </>
  )
}

export default function Marketplace() {
  const { query } = place.value
  const [typed, setTyped] = useState(query.get('q') ?? '')
  const q = query.get('q') ?? ''
  const category = (Object.keys(CATEGORIES) as Category[]).find((one) => one === query.get('category'))
  const sort = (Object.keys(SORTS) as Sort[]).find((one) => one === query.get('sort'))
  const search = (changes: { q?: string; category?: string; sort?: string }): void => {
    const next = new URLSearchParams({ q, category: category ?? '', sort: sort ?? '', ...changes })
    for (const [name, value] of [...next]) if (!value) next.delete(name)
    redirect(next.size > 0 ? `/marketplace?${next}` : '/marketplace')
  }
  useEffect(() => {
    // Searches once the user stops typing.
    const timer = setTimeout(() => typed.trim() !== q && search({ q: typed.trim() }), 300)
    return () => clearTimeout(timer)
  })
  const apps = usePages(`installations marketplace ${q} ${category} ${sort}`, (cursor) =>
    unwrap(
      api.GET('/console/marketplace', {
        params: {
          query: { ...(q && { q }), ...(category && { category }), ...(sort && { sort }), ...(cursor && { cursor }) },
        },
      }),
    ),
  )
  return (
    <Screen title={t('Marketplace')} wide>
      <search class="filters">
        <TextField label={t('Search')} type="search" value={typed} maxLength={100} onText={setTyped} />
        <Field label={t('Category')}>
          {(field) => (
            <select
              {...field}
              value={category ?? ''}
              onChange={(event) => search({ category: event.currentTarget.value })}
            >
              <option value="">{t('All')}</option>
              {Object.entries(CATEGORIES).map(([name, words]) => (
                <option key={name} value={name}>
                  {words}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label={t('Sort by')}>
          {(field) => (
            <select
              {...field}
              value={sort ?? 'featured'}
              onChange={(event) => search({ sort: event.currentTarget.value })}
            >
              {Object.entries(SORTS).map(([name, words]) => (
                <option key={name} value={name}>
                  {words}
                </option>
              ))}
            </select>
          )}
        </Field>
      </search>
      <Shown known={apps} rows={4} tall>
        {({ items }) =>
          items.length === 0 && !apps.more ? (
            <Empty icon="store" title={q || category ? t('No matching agents') : t('No agents yet')}>
              <p>
                {rich('Can’t find what you need? <link>Request an agent</link>', {
                  link: (text) => <a href="#/wishlist">{text}</a>,
                })}
              </p>
            </Empty>
          ) : q || category || sort ? (
            <Tiles apps={items} />
          ) : (
            <Shelves apps={items} />
          )
        }
      </Shown>
      <More more={apps.more} />
      <p class="hint">
        {rich('Do you build agents? <link>Publish yours</link>', {
          link: (text) => <a href={resolveUrl('developers')}>{text}</a>,
        })}
      </p>
    </Screen>
  )
}
