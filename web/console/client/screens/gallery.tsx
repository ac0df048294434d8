import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Failure } from '../../../session/failure.ts'
import { announce } from '../../../ui/announce.tsx'
import { DayChart } from '../../../ui/chart.tsx'
import { Confirm, Modal } from '../../../ui/dialog.tsx'
import { Field, TextField } from '../../../ui/form.tsx'
import { Icon } from '../../../ui/icons.tsx'
import { Problem } from '../../../ui/problem.tsx'
import { Empty, Screen, Skeleton } from '../../../ui/screen.tsx'
import { Initials, Json, Logo, Name, Stars, State, When } from '../../../ui/text.tsx'

const Part = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <section class="section" aria-label={title}>
    <h2>{title}</h2>
    {children}
  </section>
)

const Buttons = () => (
  <Part title="Buttons">
    <div class="actions">
      <button type="button" class="primary">
        Primary
      </button>
      <button type="button">Default</button>
      <button type="button" class="danger">
        Dangerous
      </button>
      <button type="button" class="quiet">
        Quiet
      </button>
      <button type="button" class="quiet danger">
        Quiet and dangerous
      </button>
      <button type="button">
        <Icon name="attach" />
        With an icon
      </button>
      <a class="button" href="#/gallery">
        These components
      </a>
    </div>
    <div class="actions">
      <button type="button" class="primary" disabled>
        Disabled
      </button>
      <button type="button" aria-busy>
        Busy
      </button>
      <button type="button" aria-pressed>
        Pressed
      </button>
    </div>
  </Part>
)

const Fields = () => {
  const [text, setText] = useState('Mara Lindqvist')
  return (
    <Part title="Fields">
      <div class="pair">
        <TextField label="Text" hint="What the field is for." value={text} onText={setText} />
        <TextField label="Wrong" problem="Use at most 100 characters." value={text} onText={setText} />
        <TextField label="Empty" placeholder="An example" value="" onText={() => {}} />
        <TextField label="Read only" readOnly value="run_01h2x3y4z5" onText={() => {}} />
        <Field label="Choice">
          {(field) => (
            <select {...field}>
              <option>Everyone</option>
              <option>Admins</option>
            </select>
          )}
        </Field>
        <Field label="Date">{(field) => <input {...field} type="date" value="2026-12-01" />}</Field>
      </div>
      <TextField label="Several lines" rows={3} value={'One\nTwo'} onText={() => {}} />
      <fieldset>
        <legend>Ticks</legend>
        {['Runs', 'Files', 'Everything else, with a label that is long enough to need a second line on a phone'].map(
          (one, i) => (
            <label class="tick" key={one}>
              <input type="checkbox" checked={i === 0} disabled={i === 1} />
              <span>{one}</span>
            </label>
          ),
        )}
      </fieldset>
    </Part>
  )
}

const Dialogs = () => {
  const [isOpen, setOpen] = useState(false)
  return (
    <Part title="Dialogs and messages">
      <div class="actions">
        <button type="button" onClick={() => setOpen(true)}>
          Open a dialog
        </button>
        <Confirm label="Delete something" title="Delete it?" verb="Delete" act={async () => {}} typed="Kestrel Books">
          <p>All of it is deleted, and nobody can bring it back.</p>
        </Confirm>
        <button type="button" onClick={() => announce('Saved.', { to: '/gallery', label: 'View' })}>
          Show a message
        </button>
      </div>
      {isOpen && (
        <Modal title="A dialog" onClose={() => setOpen(false)}>
          <p>It closes with Escape, and focus goes back to its button.</p>
        </Modal>
      )}
    </Part>
  )
}

const Tables = () => (
  <Part title="Tables and lists">
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scroll areas must be reachable with the keyboard */}
    <section class="table" tabIndex={0} aria-label="Agents">
      <table>
        <thead>
          <tr>
            <th scope="col">Agent</th>
            <th scope="col">State</th>
            <th scope="col" class="number">
              Runs
            </th>
          </tr>
        </thead>
        <tbody>
          {['Stock keeper', 'Invoice clerk'].map((name, i) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <State name={i === 0 ? 'active' : 'suspended'} />
              </td>
              <td class="number">{1_204 - i * 900}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
    <ul class="rows section">
      {['Stock keeper', '🦉 مساعد النقل with a name that goes on and on until it has to be cut off somewhere'].map(
        (name) => (
          <li key={name}>
            <a class="row" href="#/gallery">
              <Logo name={name} />
              <span class="grow">
                <strong class="line">
                  <Name>{name}</Name>
                </strong>
                <span class="soft">Ordered what runs out this week</span>
              </span>
              <State name="running" />
            </a>
          </li>
        ),
      )}
    </ul>
    <dl class="facts">
      <dt>Started</dt>
      <dd>
        <When at="2026-11-24T09:40:00Z" />
      </dd>
      <dt>By</dt>
      <dd>Mara Lindqvist</dd>
    </dl>
    <Json label="A value" value={{ isbn: '9780141036144', quantity: 12 }} />
  </Part>
)

const STATES = ['succeeded', 'failed', 'awaiting_approval', 'running', 'cancelled'] as const

const Marks = () => (
  <Part title="Badges and avatars">
    <div class="actions">
      {STATES.map((name) => (
        <State key={name} name={name} />
      ))}
      <span class="count">12</span>
      <Stars rating={4.3} count={27} />
    </div>
    <div class="actions">
      <Initials name="Mara Lindqvist" />
      <Initials name="王秀英" />
      <Logo name="Stock keeper" />
      <Logo name="Invoice clerk" />
      <Logo name="Travel desk" />
    </div>
    <ul class="tags">
      <li>urgent</li>
      <li>shelves</li>
    </ul>
  </Part>
)

const Waiting = () => (
  <Part title="Empty, loading and failed">
    <Empty title="No runs yet">
      <p>Runs appear here when an agent works.</p>
    </Empty>
    <div class="section">
      <Skeleton rows={2} />
    </div>
    <Problem
      failure={
        new Failure('rate_limited', 429, 'Too many requests.', 'Wait a minute and try again.', 'req_01h2x3', {
          fields: { title: ['is too long'] },
        })
      }
      retry={() => {}}
    />
    <p class="note">A note about what comes next.</p>
    <p class="note warn">
      <strong>This workspace is suspended.</strong> Its agents can’t run.
    </p>
    <div class="card">
      <h3>A card</h3>
      <p class="soft">With secondary text, and a hint below.</p>
      <p class="hint">Applies to this browser.</p>
    </div>
  </Part>
)

const DAYS = Array.from({ length: 14 }, (_, i) => `2026-11-${String(i + 10).padStart(2, '0')}`)

const Charts = () => (
  <Part title="Charts">
    <div class="charts">
      <DayChart
        title="Runs"
        days={DAYS}
        series={[
          { name: 'Succeeded', tone: 'one', values: DAYS.map((_, i) => 12 + ((i * 7) % 11)) },
          { name: 'Failed', tone: 'two', values: DAYS.map((_, i) => i % 4) },
        ]}
        before={DAYS.map((_, i) => 10 + ((i * 5) % 9))}
      />
      <DayChart title="Nothing" days={DAYS} series={[{ name: 'Runs', tone: 'one', values: DAYS.map(() => 0) }]} />
    </div>
  </Part>
)

/** All components in all states, to look at while changing them. Local run only. */
export default function Gallery() {
  return (
    <Screen title="Components">
      <Buttons />
      <Fields />
      <Dialogs />
      <Marks />
      <Tables />
      <Charts />
      <Waiting />
    </Screen>
  )
}
