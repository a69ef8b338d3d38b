subroutine s(a,n,c)
 integer n; real(8) :: a(n,*); character(*) c; real, allocatable :: z(:,:); integer i
 allocate(z(n,2)); do i=1,n; z(i,1)=a(i,1); z(i,2)=i; end do; print *, sum(z), c
end subroutine
program p
 real(8) :: q(3,4); integer, pointer :: ip(:); q=1; allocate(ip(5)); ip=2; call s(q,3,"hello"); print *, ip(2)
end program
