// Nothing here is needed: every page works without it.

for (const box of document.querySelectorAll('[data-copy]')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'small quiet'
  button.textContent = 'Copy'
  const status = document.createElement('span')
  status.className = 'unseen'
  status.setAttribute('role', 'status')
  button.addEventListener('click', async () => {
    const text = box.value ?? box.textContent
    try {
      await navigator.clipboard.writeText(text)
      button.textContent = status.textContent = 'Copied'
    } catch {
      // Not allowed, or not over https: what is selected can be copied by hand.
      box.select?.()
      button.textContent = status.textContent = 'Press Ctrl+C'
    }
    setTimeout(() => (button.textContent = 'Copy'), 3000)
  })
  box.after(button, status)
}

for (const input of document.querySelectorAll('[data-slug-check]')) {
  const note = document.getElementById(`${input.id}-error`)
  const source = input.dataset.slugFrom && document.getElementById(input.dataset.slugFrom)
  let timer
  let isTyped = input.value !== ''

  const check = async () => {
    const slug = input.value
    if (slug === '' || slug === input.defaultValue) {
      note.textContent = ''
      return
    }
    const answer = await fetch(`${input.dataset.slugCheck}?slug=${encodeURIComponent(slug)}`, {
      headers: { accept: 'application/json' },
    }).catch(() => undefined)
    // What was typed in the meantime is asked for by itself.
    if (!answer?.ok || input.value !== slug) return
    const { available } = await answer.json()
    note.textContent = available ? 'This is free.' : 'This cannot be had.'
    note.classList.toggle('good', available)
  }
  const checkSoon = () => {
    clearTimeout(timer)
    timer = setTimeout(check, 250)
  }
  input.addEventListener('input', () => {
    isTyped = input.value !== ''
    checkSoon()
  })
  source?.addEventListener('input', () => {
    if (isTyped) return
    input.value = source.value
      .normalize('NFKD')
      .toLowerCase()
      .split(/[^a-z0-9]+/)
      .filter(Boolean)
      .join('-')
      .slice(0, 48)
    checkSoon()
  })
}
