import { refresh } from '../../../ui/data.ts'
import { Choice, Filters, filters, Search } from '../../../ui/filters.tsx'
import { Screen } from '../../../ui/screen.tsx'
import { Name, Prose, Stars, When } from '../../../ui/text.tsx'
import { api, unwrap } from '../api.ts'
import { Decide } from '../ui/decide.tsx'
import { Listing } from '../ui/listing.tsx'

const RATINGS = ['1', '2', '3', '4', '5']

const Hide = ({ id, hidden, by }: { id: string; hidden: boolean; by: string }) => (
  <Decide
    label={hidden ? 'Hide' : 'Show again'}
    about={`the review by ${by}`}
    title={hidden ? 'Hide this review?' : 'Show this review again?'}
    {...(hidden && { tone: 'danger' as const })}
    reason={{ label: 'Reason', hint: 'Shown to the workspace that wrote the review.' }}
    done={hidden ? 'Review hidden.' : 'Review visible again.'}
    act={async (reason) => {
      await unwrap(api.POST('/admin/reviews/{id}/hide', { params: { path: { id } }, body: { hidden, reason } }))
      await refresh('reviews', 'app ')
    }}
  >
    <p>
      {hidden
        ? 'It’s removed from the app’s page and average rating right away. You can show it again later.'
        : 'It’ll be visible again and count toward the app’s average rating.'}
    </p>
  </Decide>
)

export default function Reviews() {
  const query = filters('app', 'hidden', 'rating') as {
    app?: string
    hidden?: 'true' | 'false'
    rating?: '1' | '2' | '3' | '4' | '5'
  }
  return (
    <Screen title="Reviews">
      <Filters>
        <Search name="app" label="App" hint="app_…" />
        <Choice name="rating" label="Stars" options={RATINGS} />
        <Choice name="hidden" label="Visibility" options={{ true: 'Hidden', false: 'Visible' }} />
      </Filters>
      <Listing
        name={`reviews ${JSON.stringify(query)}`}
        none="No matching reviews"
        read={(at) => unwrap(api.GET('/admin/reviews', { params: { query: { ...query, ...at } } }))}
      >
        {(review) => (
          <article class="entry-body">
            <p>
              <Stars rating={review.rating} /> <Name>{review.author.name}</Name>
              <span class="soft">
                {' '}
                from <Name>{review.workspace_name}</Name> · <When at={review.created_at} /> ·{' '}
                <a href={`#/apps/${review.app_id}`}>View app</a>
              </span>{' '}
              {review.hidden && <span class="state bad">✕ Hidden</span>}
            </p>
            {review.text && <Prose text={review.text} />}
            {review.hidden_reason && (
              <div class="note">
                <Prose text={review.hidden_reason} />
              </div>
            )}
            <div class="actions">
              <Hide id={review.id} hidden={!review.hidden} by={review.author.name} />
            </div>
          </article>
        )}
      </Listing>
    </Screen>
  )
}
