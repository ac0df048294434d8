/** Returns the part of a decision that accepts the failing check. */
export const accepting = (accepted: boolean): { accepted_checks?: ['similar_name'] } =>
  accepted ? { accepted_checks: ['similar_name'] } : {}

/** Asks the moderator to accept a name that looks like another's. Without a similar name it changes nothing. */
export const AcceptSimilarName = ({
  accepted,
  onAccept,
}: {
  accepted: boolean
  onAccept: (accepted: boolean) => void
}) => (
  <label class="tick">
    <input type="checkbox" checked={accepted} onChange={(event) => onAccept(event.currentTarget.checked)} />
    <span>
      Approve even if the check <strong>Similar name</strong> fails. Customers are told about the similar names.
    </span>
  </label>
)
