import { sanitize } from '../../../session/text.ts'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh } from '../../../ui/data.ts'
import { Choice, Filters, filters } from '../../../ui/filters.tsx'
import { count, humanize } from '../../../ui/format.ts'
import { Problem } from '../../../ui/problem.tsx'
import { Screen } from '../../../ui/screen.tsx'
import { Logo, Name, When } from '../../../ui/text.tsx'
import { identity, isSuperadmin } from '../account.ts'
import { api, type Schemas, unwrap } from '../api.ts'
import { Listing } from '../ui/listing.tsx'
import { decideByKey } from '../ui/queue-keys.ts'

type Item = Schemas['ReviewItem']

export const ClaimButton = ({
  app,
  claimedBy,
  about,
}: {
  app: string
  claimedBy: { id: string; name: string } | null
  /** The app's name, for screen readers in lists. */
  about?: string
}) => {
  const { busy, failure, act } = useAction()
  const mine = claimedBy?.id === identity.value?.id
  const release = claimedBy !== null
  if (release && !mine && !isSuperadmin.value) return null
  const send = (): Promise<boolean> =>
    act(async () => {
      await unwrap(api.POST('/admin/apps/{id}/claim', { params: { path: { id: app } }, body: { release } }))
      announce(release ? 'Released. Others can claim it now.' : 'Claimed for two hours.')
      await refresh('review', 'app ')
    })
  return (
    <>
      <button type="button" aria-busy={busy} onClick={send}>
        {release ? 'Release' : 'Claim'}
        {about && <span class="unseen"> {sanitize(about)}</span>}
      </button>
      {failure && <Problem failure={failure} />}
    </>
  )
}

const Checks = ({ checks }: { checks: Item['checks'] }) =>
  checks === null ? (
    <span class="soft">Checks haven’t run yet</span>
  ) : (
    <span class={checks.failed > 0 ? 'state bad' : checks.warning > 0 ? 'state warn' : 'state good'}>
      {count(checks.passed)} passed
      {checks.failed > 0 && `, ${count(checks.failed)} failed`}
      {checks.warning > 0 && `, ${count(checks.warning)} to check`}
    </span>
  )

const KINDS: Record<Item['kind'], string> = { app: 'New app', version: 'New version', revision: 'Changes' }

const Row = ({ item }: { item: Item }) => {
  const { app, version, developer, checklist, dangerous_scopes: dangerous } = item
  return (
    <div class="row folds top-aligned" data-item>
      <Logo name={app.name} path={app.logo_path} />
      <div class="grow">
        <a href={`#/apps/${app.id}`}>
          <strong>
            <Name>{app.name}</Name>
          </strong>
        </a>
        <span class="soft">
          {KINDS[item.kind]}
          {item.revision ? ` · ${item.revision.fields.map(humanize).join(', ')}` : version && ` · ${version.version}`} ·{' '}
          <Name>{developer.name}</Name>
          {developer.verified && ' ✓ verified'} · submitted <When at={item.waiting_since} />
        </span>
        <span class="marks">
          <Checks checks={item.checks} />
          {dangerous.map((scope) => (
            <span key={scope} class="state warn">
              ! {scope}
            </span>
          ))}
          {item.claimed_by && (
            <span class="state act">
              … Claimed by <Name>{item.claimed_by.name}</Name>
            </span>
          )}
        </span>
        <ul class="checklist" aria-label="Checklist">
          {checklist.map(({ id, label, done }) => (
            <li key={id} class={done ? 'soft' : 'missing'}>
              <span aria-hidden="true">{done ? '✓' : '✕'} </span>
              <span class="unseen">{done ? 'Done: ' : 'Missing: '}</span>
              {label}
            </li>
          ))}
        </ul>
      </div>
      <ClaimButton app={app.id} claimedBy={item.claimed_by} about={app.name} />
    </div>
  )
}

export default function Review() {
  const query = filters('kind') as { kind?: Item['kind'] }
  return (
    <Screen title="Review">
      <p class="soft">New apps, and new versions and changes of approved apps, oldest first.</p>
      <p class="hint keys">
        With an item selected, <kbd>j</kbd> and <kbd>k</kbd> move through the queue, <kbd>Enter</kbd> opens it and{' '}
        <kbd>c</kbd> goes to Claim.
      </p>
      <Filters>
        <Choice name="kind" label="Type" options={['app', 'version', 'revision']} all="Apps, versions and changes" />
      </Filters>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: moves between links that work without it */}
      <div onKeyDown={decideByKey}>
        <Listing<Item & { id: string }>
          name={`review ${JSON.stringify(query)}`}
          none="Nothing to review"
          read={async (at) => {
            const page = await unwrap(api.GET('/admin/review', { params: { query: { ...query, ...at } } }))
            return {
              ...page,
              items: page.items.map((item) => ({
                ...item,
                id: `${item.app.id} ${item.revision?.id ?? item.version?.id}`,
              })),
            }
          }}
        >
          {(item) => <Row item={item} />}
        </Listing>
      </div>
    </Screen>
  )
}
