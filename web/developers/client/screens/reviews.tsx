import { useState } from 'preact/hooks'
import { announce } from '../../../ui/announce.tsx'
import { refresh, usePages } from '../../../ui/data.ts'
import { Form, TextField } from '../../../ui/form.tsx'
import { t } from '../../../ui/messages.ts'
import { Empty, More, Shown } from '../../../ui/screen.tsx'
import { Name, Prose, Stars, State, When } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { type App, AppScreen } from '../ui/app-screen.tsx'
import { may } from '../ui/roles.ts'

const Reply = ({ review }: { review: Schemas['Review'] }) => {
  const [text, setText] = useState(review.reply?.text ?? '')
  const send = async (): Promise<void> => {
    const params = { path: { id: review.id } }
    await unwrap(api.POST('/api/v1/dev/reviews/{id}/reply', { params, body: { text: text.trim() } }))
    await refresh('app')
    announce(t('Your reply is published.'))
  }
  return (
    <details>
      <summary>{review.reply ? t('Change your reply') : t('Reply')}</summary>
      <Form verb={t('Publish the reply')} send={send}>
        <TextField label={t('Reply')} rows={3} value={text} required maxLength={2_000} onText={setText} />
      </Form>
    </details>
  )
}

const Reviews = ({ app }: { app: App }) => {
  const list = usePages(`app ${app.id} reviews`, (cursor) =>
    unwrap(
      api.GET('/api/v1/dev/apps/{id}/reviews', {
        params: { path: { id: app.id }, query: { limit: 50, ...(cursor && { cursor }) } },
      }),
    ),
  )
  const { average = null, count } = (list.data ?? {}) as Partial<Schemas['ReviewTotals']>
  return (
    <>
      {list.data && (
        <p>
          <Stars rating={average} {...(count !== undefined && { count })} />
        </p>
      )}
      <Shown known={list} rows={2} tall>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title={t('No reviews yet')}>
              <p>{t('Workspaces that have installed the app can review it.')}</p>
            </Empty>
          ) : (
            items.map((review) => (
              <article class="card" key={review.id}>
                <p>
                  <Stars rating={review.rating} />{' '}
                  <strong>
                    <Name>{review.workspace_name}</Name>
                  </strong>{' '}
                  <span class="soft">
                    <When at={review.created_at} />
                  </span>{' '}
                  {review.status === 'hidden' && <State name="hidden" />}
                </p>
                {review.text && <Prose text={review.text} />}
                {review.reply && (
                  <div class="note">
                    <p>
                      <strong>{t('Your reply')}</strong>
                    </p>
                    <Prose text={review.reply.text} />
                  </div>
                )}
                {may('POST /api/v1/dev/reviews/{id}/reply') && (
                  <Reply key={review.reply?.created_at ?? ''} review={review} />
                )}
              </article>
            ))
          )
        }
      </Shown>
      <More more={list.more} />
    </>
  )
}

export default function ReviewsScreen({ id }: { id: string }) {
  return (
    <AppScreen id={id} title={t('Reviews')}>
      {(app) => <Reviews app={app} />}
    </AppScreen>
  )
}
