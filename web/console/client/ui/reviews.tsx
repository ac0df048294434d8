import { useState } from 'preact/hooks'
import { announce } from '../../../ui/announce.tsx'
import { refresh, usePages } from '../../../ui/data.ts'
import { Confirm } from '../../../ui/dialog.tsx'
import { Form, TextField } from '../../../ui/form.tsx'
import { count } from '../../../ui/format.ts'
import { Empty, More, Shown } from '../../../ui/screen.tsx'
import { Name, Prose, Stars, When } from '../../../ui/text.tsx'
import { api, type Schemas, take } from '../api.ts'

type Totals = Schemas['ReviewTotals']
type Review = Schemas['Review']

const Distribution = ({ distribution, total }: { distribution: Record<string, number>; total: number }) => (
  <table class="distribution">
    <caption class="unseen">How many reviews gave how many stars</caption>
    <tbody>
      {['5', '4', '3', '2', '1'].map((stars) => (
        <tr key={stars}>
          <th scope="row">
            {stars}
            <span class="unseen"> stars</span>
          </th>
          <td>
            <meter min={0} max={Math.max(total, 1)} value={distribution[stars] ?? 0} aria-hidden="true" />
          </td>
          <td>{count(distribution[stars] ?? 0)}</td>
        </tr>
      ))}
    </tbody>
  </table>
)

const Mine = ({ appId, mine }: { appId: string; mine: Review | null }) => {
  const [rating, setRating] = useState(mine?.rating ?? 0)
  const [text, setText] = useState(mine?.text ?? '')
  const path = { id: appId }
  const send = async (): Promise<void> => {
    const body = { rating, ...(text.trim() && { text: text.trim() }) }
    await take(api.PUT('/console/apps/{id}/review', { params: { path }, body }))
    announce('Review saved.')
    await refresh('reviews', 'installations')
  }
  return (
    <details class="card">
      <summary>{mine ? 'Your organization’s review' : 'Write a review'}</summary>
      <p class="hint">One for the whole organization, public with its name.</p>
      {mine?.status === 'hidden' && (
        <p class="hint">A moderator has hidden it: others do not see it, and it does not count.</p>
      )}
      <Form verb={mine ? 'Save review' : 'Publish review'} send={send} disabled={rating === 0}>
        <fieldset>
          <legend>Rating</legend>
          <div class="ratings">
            {[1, 2, 3, 4, 5].map((stars) => (
              <label class="tick" key={stars}>
                <input type="radio" name="rating" checked={rating === stars} onChange={() => setRating(stars)} />
                <span>
                  {stars} <span aria-hidden="true">★</span>
                  <span class="unseen"> stars</span>
                </span>
              </label>
            ))}
          </div>
        </fieldset>
        <TextField label="What others should know" rows={3} maxLength={4000} value={text} onText={setText} />
      </Form>
      {mine && (
        <Confirm
          quiet
          label="Remove the review"
          title="Remove your organization’s review?"
          verb="Remove"
          act={async () => {
            await take(api.DELETE('/console/apps/{id}/review', { params: { path } }))
            await refresh('reviews', 'installations')
          }}
        >
          <p>It is gone for everybody, and counts no more in the average.</p>
        </Confirm>
      )}
    </details>
  )
}

export const Reviews = ({ appId, mayWrite }: { appId: string; mayWrite: boolean }) => {
  const reviews = usePages(`reviews ${appId}`, (cursor) =>
    take(api.GET('/console/apps/{id}/reviews', { params: { path: { id: appId }, query: cursor ? { cursor } : {} } })),
  )
  return (
    <section class="section" aria-labelledby="reviews">
      <h2 id="reviews">Reviews</h2>
      <Shown known={reviews} rows={2}>
        {(data) => {
          const { average, count: total, distribution, mine } = data as typeof data & Totals
          return (
            <>
              {total > 0 && (
                <div class="card totals">
                  <Stars rating={average} count={total} />
                  <Distribution distribution={distribution as Record<string, number>} total={total} />
                </div>
              )}
              {mayWrite && <Mine key={mine?.updated_at ?? ''} appId={appId} mine={mine} />}
              {data.items.length === 0 && <Empty title="Nobody has reviewed it yet." />}
              {data.items.map((review) => (
                <article class="card" key={review.id}>
                  <p>
                    <strong>
                      <Name>{review.workspace_name}</Name>
                    </strong>{' '}
                    <Stars rating={review.rating} />{' '}
                    <span class="soft">
                      <When at={review.updated_at} />
                    </span>
                  </p>
                  {review.text && <Prose text={review.text} />}
                  {review.reply && (
                    <div class="note">
                      <strong>The developer answers</strong>
                      <Prose text={review.reply.text} />
                    </div>
                  )}
                </article>
              ))}
            </>
          )
        }}
      </Shown>
      <More more={reviews.more} />
    </section>
  )
}
