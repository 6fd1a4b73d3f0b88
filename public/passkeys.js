// Passkeys, where the browser supports them (WebAuthn Level 3, section 5.1). Without this script their forms are hidden.

const ceremonies = {
  create: {
    parse: 'parseCreationOptionsFromJSON',
    run: (publicKey) => navigator.credentials.create({ publicKey }),
  },
  get: {
    parse: 'parseRequestOptionsFromJSON',
    run: (publicKey) => navigator.credentials.get({ publicKey }),
  },
}

const messages = {
  // Such as http://127.0.0.1 (WebAuthn Level 3, section 5.1.3).
  SecurityError: 'Passkeys do not work at an IP address. Open this site by its name.',
  NotAllowedError: 'The request was cancelled or took too long. Try again.',
  InvalidStateError: 'This device already has a passkey for your account.',
}

for (const form of document.querySelectorAll('form[data-passkey]')) {
  const { parse, run } = ceremonies[form.dataset.passkey]
  if (typeof globalThis.PublicKeyCredential?.[parse] !== 'function') continue
  form.hidden = false
  for (const note of document.querySelectorAll('[data-without-passkeys]')) note.hidden = true
  const error = form.querySelector('[data-passkey-error]')
  const button = form.querySelector('button')

  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    if (!copyFields(form)) return
    error.textContent = ''
    button.disabled = true
    try {
      const credential = await run(globalThis.PublicKeyCredential[parse](await fetchOptions(form)))
      form.elements.credential.value = JSON.stringify(credential)
      form.submit()
    } catch (reason) {
      error.textContent = messages[reason.name] ?? 'This did not work. Reload the page and try again.'
    } finally {
      button.disabled = false
    }
  })
}

// Fields that the form shares with another one on the page. Returns whether they are valid.
function copyFields(form) {
  return [...form.querySelectorAll('[data-from]')].every((field) => {
    const source = document.getElementById(field.dataset.from)
    field.value = source.value
    return source.reportValidity()
  })
}

async function fetchOptions(form) {
  const answer = await fetch(form.dataset.options, {
    method: 'POST',
    headers: { accept: 'application/json' },
    body: new URLSearchParams({ _csrf: form.elements._csrf.value }),
  })
  if (!answer.ok) throw new Error(`the options were refused with ${answer.status}`)
  return answer.json()
}
