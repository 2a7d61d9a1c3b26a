try{let t=localStorage.getItem("hitchpost:theme");(t==="light"||t==="dark")&&(document.documentElement.dataset.theme=t)}catch{}
