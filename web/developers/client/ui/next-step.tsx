import { useData } from '../../../ui/data.ts'
import { t } from '../../../ui/messages.ts'
import { place } from '../../../ui/router.ts'
import { api, type Schemas, unwrap } from '../api.ts'
import { may } from './roles.ts'

type App = Schemas['App']

const STEPS = [t('Register'), t('Manifest'), t('Test'), t('Promote'), t('Review'), t('Listed')]

interface Next {
  /** Index of the first step that isn't done. */
  at: number
  words: string
  /** Screen of the app where the step is done, and the link's text. */
  to?: readonly [place: string, label: string]
}

const nextOf = (app: App, hasVersion: boolean): Next => {
  if (!hasVersion)
    return {
      at: 1,
      words: t('Publish a manifest. It describes what your agent does and where it runs.'),
      to: ['/versions', t('Write the manifest')],
    }
  if (app.test_run_at === null)
    return {
      at: 2,
      words: t('Run it once in your sandbox. Nobody else sees that.'),
      to: ['/test', t('Run a test')],
    }
  if (app.promoted_version === null)
    return {
      at: 3,
      words: t('Promote a version. It’s the one that customers will get.'),
      to: ['/versions', t('Choose a version')],
    }
  if (app.status === 'rejected')
    return {
      at: 4,
      words: t('The moderators rejected it. Read why, change it, and submit it again.'),
      to: ['', t('Read why')],
    }
  if (app.status === 'draft')
    return {
      at: 4,
      words: t('Fill in what customers read, and submit it for review.'),
      to: ['', t('See what’s missing')],
    }
  return { at: 5, words: t('The moderators are looking at it. Their decision and questions appear in the overview.') }
}

/** Path from a new app to the marketplace, with the one step that comes next. Absent once moderators have decided for it. */
export const NextStep = ({ app }: { app: App }) => {
  const isUnderWay = app.status === 'draft' || app.status === 'rejected' || app.status === 'in_review'
  // A tested or promoted app has a version.
  const isKnown = app.test_run_at !== null || app.promoted_version !== null
  const newest = useData(`app ${app.id} newest version`, async () => {
    if (!isUnderWay || isKnown) return true
    const params = { path: { id: app.id }, query: { limit: 1 } }
    return (await unwrap(api.GET('/api/v1/dev/apps/{id}/versions', { params }))).items.length > 0
  })
  if (!isUnderWay || (!isKnown && newest.data === undefined)) return null
  const { at, words, to } = nextOf(app, isKnown || newest.data === true)
  const address = to && `/apps/${app.id}${to[0]}`
  return (
    <section class="journey card" aria-label={t('Next step')}>
      <ol>
        {STEPS.map((step, i) => (
          <li key={step} class={i < at ? 'done' : i === at ? 'now' : undefined} aria-current={i === at && 'step'}>
            <span class="mark" aria-hidden="true">
              {i < at ? '✓' : i + 1}
            </span>
            <span>{step}</span>
            {i < at && <span class="unseen">{t(' (done)')}</span>}
          </li>
        ))}
      </ol>
      <p>
        <strong>{t('Next:')}</strong> {words}
        {to && address !== place.value.path && may('POST /api/v1/dev/apps/{id}/versions') && (
          <>
            {' '}
            <a href={`#${address}`}>
              {to[1]}
              <span aria-hidden="true"> →</span>
            </a>
          </>
        )}
      </p>
    </section>
  )
}
