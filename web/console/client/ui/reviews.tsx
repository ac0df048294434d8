import { useState } from 'preact/hooks'
import { announce } from '../../../ui/announce.tsx'
import { refresh, usePages } from '../../../ui/data.ts'
import { Confirm } from '../../../ui/dialog.tsx'
import { Form, TextField } from '../../../ui/form.tsx'
import { count } from '../../../ui/format.ts'
import { t } from '../../../ui/messages.ts'
import { Empty, More, Shown } from '../../../ui/screen.tsx'
import { Name, Prose, Stars, When } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'

type Totals = Schemas['ReviewTotals']
type Review = Schemas['Review']

const Distribution = ({ distribution, total }: { distribution: Record<string, number>; total: number }) => (
  <table class="distribution">
    <caption class="unseen">{t('Reviews by number of stars')}</caption>
    <tbody>
      {['5', '4', '3', '2', '1'].map((stars) => (
        <tr key={stars}>
          <th scope="row">
            {stars}
            <span class="unseen"> {t('stars')}</span>
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

/** A review that a colleague wrote, which the user can't change. */
const ColleaguesReview = ({ mine }: { mine: Review }) => (
  <details class="card">
    <summary>{t('Your workspace’s review')}</summary>
    <Stars rating={mine.rating} />
    {mine.text && <Prose text={mine.text} />}
    <p class="hint">{t('Only the person who wrote it and workspace admins can change or delete it.')}</p>
  </details>
)

const OwnReview = ({ appId, mine }: { appId: string; mine: Review | null }) => {
  const [rating, setRating] = useState(mine?.rating ?? 0)
  const [text, setText] = useState(mine?.text ?? '')
  const path = { id: appId }
  const send = async (): Promise<void> => {
    const body = { rating, ...(text.trim() && { text: text.trim() }) }
    await unwrap(api.PUT('/console/apps/{id}/review', { params: { path }, body }))
    announce(t('Review saved.'))
    await refresh('reviews', 'installations')
  }
  return (
    <details class="card">
      <summary>{mine ? t('Your workspace’s review') : t('Write a review')}</summary>
      <p class="hint">{t('Each workspace can publish one review, shown publicly under its name.')}</p>
      {mine?.status === 'hidden' && (
        <p class="hint">
          {t('A moderator has hidden this review. Others can’t see it, and it doesn’t count toward the rating.')}
        </p>
      )}
      <Form verb={mine ? t('Save review') : t('Publish review')} send={send} disabled={rating === 0}>
        <fieldset>
          <legend>{t('Rating')}</legend>
          <div class="ratings">
            {[1, 2, 3, 4, 5].map((stars) => (
              <label class="tick" key={stars}>
                <input type="radio" name="rating" checked={rating === stars} onChange={() => setRating(stars)} />
                <span>
                  {stars} <span aria-hidden="true">★</span>
                  <span class="unseen"> {t('stars')}</span>
                </span>
              </label>
            ))}
          </div>
        </fieldset>
        <TextField label={t('Review')} rows={3} maxLength={4000} value={text} onText={setText} />
      </Form>
      {mine && (
        <Confirm
          quiet
          label={t('Delete review')}
          title={t('Delete your workspace’s review?')}
          verb={t('Delete')}
          act={async () => {
            await unwrap(api.DELETE('/console/apps/{id}/review', { params: { path } }))
            await refresh('reviews', 'installations')
          }}
        >
          <p>{t('Nobody will see it anymore, and it won’t count toward the rating.')}</p>
        </Confirm>
      )}
    </details>
  )
}

export const Reviews = ({ appId, mayWrite }: { appId: string; mayWrite: boolean }) => {
  const reviews = usePages(`reviews ${appId}`, (cursor) =>
    unwrap(api.GET('/console/apps/{id}/reviews', { params: { path: { id: appId }, query: cursor ? { cursor } : {} } })),
  )
  return (
    <section class="section" aria-labelledby="reviews">
      <h2 id="reviews">{t('Reviews')}</h2>
      <Shown known={reviews} rows={2}>
        {(data) => {
          const {
            average,
            count: total,
            distribution,
            mine,
            mine_editable: mineEditable,
          } = data as typeof data & Totals
          return (
            <>
              {total > 0 && (
                <div class="card totals">
                  <Stars rating={average} count={total} />
                  <Distribution distribution={distribution as Record<string, number>} total={total} />
                </div>
              )}
              {mayWrite &&
                (mine && !mineEditable ? (
                  <ColleaguesReview mine={mine} />
                ) : (
                  <OwnReview key={mine?.updated_at ?? ''} appId={appId} mine={mine} />
                ))}
              {data.items.length === 0 && <Empty title={t('No reviews yet')} />}
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
                      <strong>{t('Reply from the developer')}</strong>
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
